// The part of a DOM that Plot needs to draw: enough to make a tree of SVG and write it down. A whole DOM would be a dependency for this alone.
const xmlns = 'http://www.w3.org/2000/svg';
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => String(text).replace(/[&<>"]/g, (character) => escapes[character]);

class Text {
  constructor(text) { this.text = text; }
  toString() { return escaped(this.text); }
}

class Element {
  namespaceURI = xmlns;
  childNodes = [];
  attributes = new Map();
  style = { setProperty: (name, value) => this.setAttribute('style', `${this.getAttribute('style') ?? ''}${name}:${value};`) };

  constructor(ownerDocument, tagName) { Object.assign(this, { ownerDocument, tagName }); }

  getAttribute(name) { return this.attributes.get(name) ?? null; }
  hasAttribute(name) { return this.attributes.has(name); }
  setAttribute(name, value) { this.attributes.set(name, value); }
  setAttributeNS(_, name, value) { this.setAttribute(name, value); }
  removeAttribute(name) { this.attributes.delete(name); }

  appendChild(child) { return this.insertBefore(child, null); }
  insertBefore(child, next) {
    const at = this.childNodes.indexOf(next);
    this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, child);
    return Object.assign(child, { parentNode: this });
  }
  set textContent(text) { this.childNodes = [new Text(text)]; }
  querySelectorAll() { return []; }

  toString() {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
    return `<${this.tagName}${attributes}>${this.childNodes.join('')}</${this.tagName}>`;
  }
}

export function svgDocument() {
  const document = {
    createElementNS: (_, name) => new Element(document, name),
    createElement: (name) => new Element(document, name),
    createTextNode: (text) => new Text(text),
  };
  document.documentElement = document.createElement('svg');
  return document;
}
