import { element, svgElement } from './element.js';

/** A colour of page.css, and what is drawn over it so that it can be told without its colour. */
export interface Paint {
  readonly name: string;
  readonly colour: string;
  readonly pattern: 'plain' | 'rising' | 'falling' | 'crossed' | 'dotted' | 'upright';
}

const patterns: Readonly<Record<Exclude<Paint['pattern'], 'plain'>, string>> = {
  rising: 'M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2',
  falling: 'M-1,7 l2,2 M0,0 l8,8 M7,-1 l2,2',
  crossed: 'M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2 M-1,7 l2,2 M0,0 l8,8 M7,-1 l2,2',
  dotted: 'M2,2 h0.01 M6,6 h0.01',
  upright: 'M4,0 v8',
};

export const colourOf = ({ colour }: Paint): string => `var(--${colour})`;

/** For a chart's `fill`. */
export const fillOf = (paint: Paint): string => (paint.pattern === 'plain' ? colourOf(paint) : `url(#${idOf(paint)})`);

const idOf = ({ colour, pattern }: Paint): string => `${pattern}-${colour}`;

/** What the fills of all charts refer to; takes no room. */
export function paintPatterns(paints: readonly Paint[]): SVGElement {
  const drawn = new Map(paints.filter(({ pattern }) => pattern !== 'plain').map((paint) => [idOf(paint), paint]));
  return svgElement('svg', { class: 'patterns', 'aria-hidden': 'true', width: '0', height: '0' }, svgElement('defs', {}, ...[...drawn.values()].map(patternOf)));
}

function patternOf(paint: Paint): SVGElement {
  if (paint.pattern === 'plain') throw new Error('a plain paint has no pattern');
  return svgElement(
    'pattern',
    { id: idOf(paint), width: '8', height: '8', patternUnits: 'userSpaceOnUse' },
    svgElement('rect', { width: '8', height: '8', fill: colourOf(paint) }),
    svgElement('path', { d: patterns[paint.pattern], class: `hatch ${paint.pattern}` }),
  );
}

export function paintLegend(paints: readonly Paint[]): HTMLElement {
  const swatch = (paint: Paint): SVGElement =>
    svgElement('svg', { class: 'swatch', 'aria-hidden': 'true', width: '22', height: '14' }, svgElement('rect', { width: '22', height: '14', rx: '2', fill: fillOf(paint) }));
  return element('ul', { class: 'legend' }, ...paints.map((paint) => element('li', {}, swatch(paint), paint.name)));
}
