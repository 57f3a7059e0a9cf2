import type { Distribution } from '../../report/reportFigures.js';
import { element, svgElement } from './element.js';

/** A line of a chart; it differs from the others by colour, dashes and the sign on it. */
export interface Series {
  readonly name: string;
  readonly distribution: Distribution;
  readonly look: Look;
}

export interface Look {
  readonly colour: string;
  readonly dashes: string;
  readonly sign: 'circle' | 'square' | 'triangle' | 'diamond2' | 'cross' | 'star';
  readonly width: number;
}

const looks: readonly Look[] = [
  { colour: 'var(--line-1)', dashes: 'none', sign: 'circle', width: 2 },
  { colour: 'var(--line-2)', dashes: '8 3', sign: 'square', width: 2 },
  { colour: 'var(--line-3)', dashes: '2 3', sign: 'triangle', width: 2.4 },
  { colour: 'var(--line-4)', dashes: '10 3 2 3', sign: 'diamond2', width: 2 },
  { colour: 'var(--line-5)', dashes: '5 2', sign: 'star', width: 2 },
];

/** As many lines as can be told apart. */
export const mostSeries = looks.length;

export const lookOf = (index: number): Look => looks[index % looks.length] ?? { colour: 'var(--ink)', dashes: 'none', sign: 'circle', width: 2 };

export const allLook: Look = { colour: 'var(--ink)', dashes: '1 2', sign: 'cross', width: 1.6 };

const signs: Readonly<Record<Look['sign'], string>> = {
  circle: 'M-3.6,0 a3.6,3.6 0 1,0 7.2,0 a3.6,3.6 0 1,0 -7.2,0',
  square: 'M-3.2,-3.2 h6.4 v6.4 h-6.4 z',
  triangle: 'M0,-4.4 L4,3 L-4,3 z',
  diamond2: 'M0,-4.6 L4.6,0 L0,4.6 L-4.6,0 z',
  cross: 'M-1.3,-4 h2.6 v2.7 h2.7 v2.6 h-2.7 v2.7 h-2.6 v-2.7 h-2.7 v-2.6 h2.7 z',
  star: 'M0,-5 L1.2,-1.6 L4.8,-1.5 L1.9,0.6 L2.9,4 L0,2 L-2.9,4 L-1.9,0.6 L-4.8,-1.5 L-1.2,-1.6 z',
};

export function seriesLegend(series: readonly Pick<Series, 'name' | 'look'>[]): HTMLElement {
  return element('ul', { class: 'legend' }, ...series.map(({ name, look }) => element('li', {}, sample(look), name)));
}

function sample({ colour, dashes, sign, width }: Look): SVGElement {
  return svgElement(
    'svg',
    { class: 'swatch', 'aria-hidden': 'true', width: '40', height: '14' },
    svgElement('path', { d: 'M0,7 h40', stroke: colour, 'stroke-width': String(width), 'stroke-dasharray': dashes, fill: 'none' }),
    svgElement('path', { d: signs[sign], transform: 'translate(20 7)', fill: colour, stroke: 'var(--paper)' }),
  );
}
