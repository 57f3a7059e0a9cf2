import { columnsOf } from './columnsOf.js';
import type { Columns } from './columnsOf.js';
import { showTime } from './showTime.js';
import { padTo, widthOf } from './textTable.js';

/** Something that stands in a diagram at a time. */
export interface Mark {
  readonly frame: number;
  readonly symbol: string;
}

/** A stream, or a subscription, as it is drawn; nothing follows on `|`, `#` and `!`. */
export interface DiagramRow {
  readonly label: string;
  readonly marks: readonly Mark[];
  /** There is no such row on this side. */
  readonly isMissing?: boolean;
}

export interface Drawing {
  readonly lines: readonly string[];
  /** Whether a time is drawn; others are left out for want of room. */
  isShown(this: void, frame: number): boolean;
}

/** Wider ones are cut to the surroundings of the first difference. */
const maxWidth = 96;
const before = 32;

/**
 * Rows in the same columns below a time axis, with carets under the times that differ; each row is a marble diagram by itself:
 *
 *     time      0       20.003s
 *     expected  - 20s --(r|)
 *     actual    - 20s ---(r|)
 *     differs           ^^^^^
 */
export function drawDiagram(rows: readonly DiagramRow[], differing: ReadonlySet<number>): Drawing {
  const columns = columnsOf(rows.map(({ marks }) => marks), differing);
  const { frames, columnOf, lines, textsAt } = columns;
  const first = frames.find((frame) => differing.has(frame)) ?? 0;
  const [from, to] = windowOf(columns, first);
  const indent = Math.max(...['differs', ...rows.map(({ label }) => label)].map(widthOf)) + 2;
  const margin = from > 0 ? '  ' : '';
  const line = (label: string, text: string): string => (padTo(label, indent) + text).trimEnd();
  const cut = (text: string): string => `${from > 0 ? '… ' : ''}${cellsOf(text).slice(from, to).join('').trimEnd()}${widthOf(text) > to ? ' …' : ''}`;
  const isShown = (frame: number): boolean => columnOf(frame) >= from && columnOf(frame) < to;
  const shown = frames.filter(isShown);
  const [earlier, later] = [frames.filter((frame) => columnOf(frame) < from).length, frames.filter((frame) => columnOf(frame) >= to).length];
  const caretsAt = shown.filter((frame) => differing.has(frame)).map((frame) => ({ at: columnOf(frame) - from, text: '^'.repeat(Math.min(to - columnOf(frame), Math.max(1, ...textsAt(frame).map(widthOf)))) }));
  return {
    isShown,
    lines: [
      line('time', margin + drawAxis(shown.map((frame, nth) => ({ frame, at: columnOf(frame) - from, rank: frame === first ? 0 : nth === 0 ? 1 : differing.has(frame) ? 2 : 3 })))),
      ...rows.map(({ label, isMissing = false }, nth) => line(label, isMissing ? '(none)' : cut(lines[nth] ?? ''))),
      ...(differing.size === 0 ? [] : [line('differs', margin + overlay(caretsAt))]),
      ...(earlier + later === 0 ? [] : [line('', `(${earlier} earlier and ${later} later times are left out)`)]),
    ],
  };
}

/** A label where there is room; the first difference comes before the start, the start before other differences. */
function drawAxis(times: readonly { readonly frame: number; readonly at: number; readonly rank: number }[]): string {
  const labels = times.map(({ frame, at, rank }) => ({ at, rank, text: frame === 0 ? '0' : showTime(frame).replace(' ', '') }));
  const placed: typeof labels = [];
  for (const label of labels.toSorted((one, other) => one.rank - other.rank)) {
    if (placed.every((other) => label.at > other.at + other.text.length || label.at + label.text.length < other.at)) placed.push(label);
  }
  return overlay(placed);
}

/** What stands in each column; a wide character has two, and what is put upon another has none. */
function cellsOf(text: string): readonly string[] {
  const cells: string[] = [];
  for (const char of text) {
    const width = widthOf(char);
    if (width === 0) cells.push(`${cells.pop() ?? ''}${char}`);
    else cells.push(char, ...(width === 2 ? [''] : []));
  }
  return cells;
}

function overlay(texts: readonly { readonly at: number; readonly text: string }[]): string {
  return texts.toSorted((one, other) => one.at - other.at).reduce((line, { at, text }) => line.slice(0, at).padEnd(at) + text + line.slice(at + text.length), '');
}

/** From and to which column is drawn; it begins and ends at a time. */
function windowOf({ frames, columnOf, width }: Columns, firstFrame: number): readonly [number, number] {
  if (width <= maxWidth) return [0, Infinity];
  const columns = frames.map(columnOf);
  const first = columnOf(firstFrame);
  const from = columns.find((column) => column >= first - before) ?? 0;
  const to = columns.findLast((column) => column <= from + maxWidth && column > first) ?? first + maxWidth;
  return [from, width <= from + maxWidth ? Infinity : to];
}
