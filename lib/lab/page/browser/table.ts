import { element } from './element.js';
import type { Child } from './element.js';

export interface TableOptions {
  /** Tells what the table holds; stands above it, and names the place where it scrolls: no two of a page are alike. */
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Child[])[];
  /** How many columns from the left hold words; the others are numbers. Default 1. */
  readonly words?: number;
}

/** A table in a place that can scroll by itself; `watchScrolling` makes it reachable where it does. */
export function table({ caption, head, rows, words = 1 }: TableOptions): HTMLElement {
  const kind = (index: number): Record<string, string> => (index < words ? {} : { class: 'number' });
  const body = rows.map((row) =>
    element('tr', {}, ...row.map((cell, index) => (index === 0 ? element('th', { scope: 'row' }, cell) : element('td', kind(index), cell)))),
  );
  return element(
    'div',
    { class: 'scroll' },
    element(
      'table',
      {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...head.map((cell, index) => element('th', { scope: 'col', ...kind(index) }, headOf(cell))))),
      element('tbody', {}, ...body),
    ),
  );
}

// Squeezed into the width of its numbers, a long heading would stand on many lines.
const long = 16;

const headOf = (text: string): Child => (text.length > long ? element('span', { class: 'long' }, text) : text);
