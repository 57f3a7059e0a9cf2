import CliTable from 'cli-table3';
import type { Paint } from './paint.js';

export interface TableOptions {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly paint: Paint;
  /** Columns that hold figures stand at their right edge; the first is column 0. */
  readonly figures?: readonly number[];
  /** Widest a cell may be, in characters; longer text goes on in the next line. Default: no limit. */
  readonly widest?: readonly (number | undefined)[];
}

/** A table as text, at most as wide as its contents. */
export function table({ head, rows, paint, figures = [], widest = [] }: TableOptions): string {
  const drawn = new CliTable({
    head: head.map((title) => paint('bold', title)),
    colAligns: head.map((_, at) => (figures.includes(at) ? 'right' : 'left')),
    // The library's own colours ask nobody.
    style: { head: [], border: [], compact: true },
  });
  drawn.push(...rows.map((row) => row.map((cell, at) => wrapped(cell, widest[at]))));
  return drawn.toString();
}

/** Between words where there are any: keys and addresses have none. */
function wrapped(text: string, width = Infinity): string {
  if (text.length <= width) return text;
  const space = text.lastIndexOf(' ', width);
  const [end, next] = space > 0 ? [space, space + 1] : [width, width];
  return `${text.slice(0, end)}\n${wrapped(text.slice(next), width)}`;
}
