import { element, paragraph } from './element.js';
import type { Child } from './element.js';
import { table } from './table.js';
import type { TableOptions } from './table.js';

export interface FigureOptions {
  /** What a reader without sight is told in place of the chart. */
  readonly label: string;
  /** What to see. */
  readonly caption: string;
  readonly legend?: Child;
  readonly draw: (width: number) => Element;
  readonly numbers: TableOptions;
}

/** Makes figures, and draws them at the width they have got; again when that changes. */
export interface Charts {
  readonly figure: (options: FigureOptions) => HTMLElement;
  /** At the width of each one's place, or at the given one. */
  readonly draw: (width?: number) => void;
}

export function createCharts(): Charts {
  const drawings: Drawing[] = [];
  return {
    figure({ label, caption, legend, draw, numbers }) {
      const place = element('div', { class: 'plot' });
      drawings.push({ place, label, draw, drawn: 0 });
      const details = element('details', {}, element('summary', {}, 'The numbers', element('span', { class: 'unseen' }, `: ${numbers.caption}`)), table(numbers));
      return element('figure', {}, ...(legend === undefined ? [] : [legend]), place, element('figcaption', {}, paragraph(caption), details));
    },
    draw(width) {
      // Every width is asked for before anything is drawn: each question after a drawing would lay out the page again.
      const widths = drawings.map(({ place }) => Math.max(240, Math.floor(width ?? (place.clientWidth || innerWidthOf(place)))));
      drawings.forEach((drawing, index) => redraw(drawing, widths[index] ?? 240));
    },
  };
}

interface Drawing extends Pick<FigureOptions, 'label' | 'draw'> {
  readonly place: Element;
  /** At which width; 0 before the first time. */
  drawn: number;
}

function redraw(drawing: Drawing, width: number): void {
  if (width === drawing.drawn) return;
  drawing.drawn = width;
  drawing.place.replaceChildren(dressed(drawing.draw(width), drawing.label));
}

/** In closed details nothing has a width yet; it will have its section's. */
function innerWidthOf(place: Element): number {
  return place.closest('section')?.clientWidth ?? document.body.clientWidth;
}

/** Plot brings a style element, which the page's policy refuses (page.css has its rules), and labels for parts of what is one image here. */
function dressed(chart: Element, label: string): Element {
  chart.querySelector('style')?.remove();
  for (const part of chart.querySelectorAll('[aria-label], [aria-description]')) {
    part.removeAttribute('aria-label');
    part.removeAttribute('aria-description');
  }
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-label', label);
  return chart;
}
