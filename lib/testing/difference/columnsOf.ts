import { showWait } from './showTime.js';
import { widthOf } from './textTable.js';

/** Rows of signs, drawn so that the same time is the same column in all of them. */
export interface Columns {
  /** Every time at which something stands, sorted. */
  readonly frames: readonly number[];
  readonly lines: readonly string[];
  readonly width: number;
  columnOf(this: void, frame: number): number;
  /** What stands at a time, row by row; `''` is nothing. */
  textsAt(this: void, frame: number): readonly string[];
}

interface Signs {
  readonly frame: number;
  readonly symbol: string;
}

const ends = /[|#!]/;

/**
 * A millisecond is a column, save where all rows wait for long, and where a group is followed by more than its own width leaves
 * room for, which no diagram could say. `others`: times at which nothing has to stand.
 */
export function columnsOf(rows: readonly (readonly Signs[])[], others: Iterable<number> = []): Columns {
  const texts = rows.map(textsOf);
  const frames = [...new Set([0, ...others, ...texts.flatMap((row) => [...row.keys()])])].sort((one, other) => one - other);
  const columns = new Map<number, number>();
  const lines = rows.map(() => ({ text: '', width: 0, ended: false }));
  const extend = (line: (typeof lines)[number], to: number, text: string): void => {
    const filled = ' -'.charAt(line.ended ? 0 : 1).repeat(Math.max(0, to - line.width));
    line.text += filled + (line.ended && text !== '' ? ' '.repeat(text.length) : text);
    line.width = Math.max(line.width, to) + widthOf(text);
  };

  frames.forEach((frame, nth) => {
    const last = frames[nth - 1];
    const column = last === undefined ? 0 : columnAfter(last, frame);
    columns.set(frame, column);
    lines.forEach((line, row) => {
      const text = texts[row]?.get(frame);
      if (text === undefined) return;
      extend(line, column, text);
      line.ended ||= ends.test(text);
    });
  });
  const width = Math.max((columns.get(frames.at(-1) ?? 0) ?? 0) + 1, ...lines.map((line) => line.width));
  for (const line of lines) extend(line, width, '');

  function columnAfter(last: number, frame: number): number {
    const from = columns.get(last) ?? 0;
    const reach = Math.max(from + 1, ...lines.map((line) => line.width));
    const idleMs = frame - last - (reach - from);
    if (idleMs <= 0) return Math.max(from + Math.max(1, Math.ceil(frame - last)), ...lines.map((line, row) => (texts[row]?.has(frame) === true ? line.width : 0)));
    const wait = showWait(idleMs);
    for (const line of lines) extend(line, reach, wait);
    return reach + wait.length;
  }

  return {
    frames,
    lines: lines.map(({ text }) => text.trimEnd()),
    width,
    columnOf: (frame) => columns.get(frame) ?? 0,
    textsAt: (frame) => texts.map((row) => row.get(frame) ?? ''),
  };
}

/** What stands at each time, several signs as a group. */
function textsOf(row: readonly Signs[]): ReadonlyMap<number, string> {
  const symbols = new Map<number, string[]>();
  for (const { frame, symbol } of row) {
    const there = symbols.get(frame);
    if (there === undefined) symbols.set(frame, [symbol]);
    else there.push(symbol);
  }
  return new Map([...symbols].map(([frame, group]) => [frame, group.length > 1 ? `(${group.join('')})` : group.join('')]));
}
