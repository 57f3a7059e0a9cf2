export type Child = Node | string;

type Attributes = Readonly<Record<string, string>>;

/** An element with attributes and children; a string becomes text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

export function svgElement<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: readonly Child[]): SVGElementTagNameMap[K] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

export const paragraph = (text: string, attributes: Attributes = {}): HTMLParagraphElement => element('p', attributes, text);

function filled<E extends Element>(node: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
