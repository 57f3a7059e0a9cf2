import { element } from './element.js';
import type { Child } from './element.js';

export interface TableOptions {
  /** Tells what the table holds; read out, not shown. */
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Child[])[];
  /** How many columns from the left hold words; the others are numbers. Default 1. */
  readonly words?: number;
}

/** A table that scrolls by itself where it is wider than the page. */
export function table({ caption, head, rows, words = 1 }: TableOptions): HTMLElement {
  const kind = (index: number): Record<string, string> => (index < words ? {} : { class: 'number' });
  const body = rows.map((row) =>
    element('tr', {}, ...row.map((cell, index) => (index === 0 ? element('th', { scope: 'row' }, cell) : element('td', kind(index), cell)))),
  );
  return element(
    'div',
    { class: 'scroll', tabindex: '0' },
    element(
      'table',
      {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...head.map((cell, index) => element('th', { scope: 'col', ...kind(index) }, cell)))),
      element('tbody', {}, ...body),
    ),
  );
}
