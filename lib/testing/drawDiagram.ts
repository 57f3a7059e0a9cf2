import { showTime, showWait } from './showTime.js';
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

interface Cell {
  readonly frame: number;
  readonly texts: readonly string[];
  readonly width: number;
  /** The wait until the next cell. */
  readonly gap: string;
}

interface Drawing {
  readonly lines: readonly string[];
  /** The times that are drawn; others were left out for want of room. */
  readonly frames: ReadonlySet<number>;
}

/** Wider ones are cut to the surroundings of the first difference. */
const maxWidth = 96;
const before = 32;

const ends = /[|#!]/;

/**
 * Rows in the same columns below a time axis, with carets under the times that differ:
 *
 *     time      0 1ms   20.003s
 *     expected  -a 20s --b|
 *     actual    -a 20s --c|
 *     differs            ^
 */
export function drawDiagram(rows: readonly DiagramRow[], differing: ReadonlySet<number>): Drawing {
  const cells = cellsOf(rows, differing);
  const [from, to] = windowOf(cells, differing);
  const shown = cells.slice(from, to);
  const left = from > 0 ? '… ' : '';
  const right = to < cells.length ? ' …' : '';
  const labels = ['time', 'differs', ...rows.map(({ label }) => label)];
  const indent = Math.max(...labels.map(widthOf)) + 2;
  const line = (label: string, text: string): string => (padTo(label, indent) + text).trimEnd();
  const drawn = rows.map(({ label, isMissing = false }, at) => line(label, isMissing ? '(none)' : `${left}${drawRow(cells, at, from, to)}${right}`));
  const axis = line('time', ' '.repeat(left.length) + drawAxis(shown, differing));
  const carets = line('differs', ' '.repeat(left.length) + shown.map(({ frame, texts, width, gap }) => padTo(differing.has(frame) ? '^'.repeat(Math.max(1, ...texts.map(widthOf))) : '', width + gap.length)).join(''));
  const leftOut = cells.length - shown.length;
  return {
    lines: [axis, ...drawn, carets, ...(leftOut === 0 ? [] : [line('', `(${leftOut} other times are left out: ${from} before, ${cells.length - to} after)`)])],
    frames: new Set(shown.map(({ frame }) => frame)),
  };
}

function cellsOf(rows: readonly DiagramRow[], differing: ReadonlySet<number>): readonly Cell[] {
  const byFrame = rows.map(({ marks }) => symbolsByFrame(marks));
  const frames = [...new Set([0, ...differing, ...byFrame.flatMap((marks) => [...marks.keys()])])].sort((one, other) => one - other);
  return frames.map((frame, at) => {
    const texts = byFrame.map((marks) => grouped(marks.get(frame) ?? []));
    const width = Math.max(1, ...texts.map(widthOf));
    return { frame, texts, width, gap: showWait(Math.max(0, (frames[at + 1] ?? frame) - frame - width)) };
  });
}

function symbolsByFrame(marks: readonly Mark[]): ReadonlyMap<number, readonly string[]> {
  const symbols = new Map<number, string[]>();
  for (const { frame, symbol } of marks) symbols.set(frame, [...(symbols.get(frame) ?? []), symbol]);
  return symbols;
}

function grouped(symbols: readonly string[]): string {
  return symbols.length > 1 ? `(${symbols.join('')})` : symbols.join('');
}

function drawRow(cells: readonly Cell[], row: number, from: number, to: number): string {
  const endsAt = cells.findIndex(({ texts }) => ends.test(texts[row] ?? ''));
  const end = endsAt < 0 ? Infinity : endsAt;
  return cells
    .map(({ texts, width, gap }, at) => {
      if (at < from || at >= to) return '';
      const rest = at + 1 < cells.length ? gap : '';
      return at < end ? padTo(texts[row] ?? '', width, '-') + rest : padTo(at === end ? (texts[row] ?? '') : '', width + rest.length);
    })
    .join('')
    .trimEnd();
}

/** A label where there is room; the first difference comes before the start, the start before other differences. */
function drawAxis(cells: readonly Cell[], differing: ReadonlySet<number>): string {
  const columns = cells.reduce<number[]>((known, { width, gap }) => [...known, (known.at(-1) ?? 0) + width + gap.length], [0]);
  const labels = cells.map(({ frame }, at) => ({ at: columns[at] ?? 0, text: frame === 0 ? '0' : showTime(frame).replace(' ', ''), rank: frame === Math.min(...differing) ? 0 : at === 0 ? 1 : differing.has(frame) ? 2 : 3 }));
  const placed: typeof labels = [];
  for (const label of labels.toSorted((one, other) => one.rank - other.rank)) {
    if (placed.every((other) => label.at > other.at + other.text.length || label.at + label.text.length < other.at)) placed.push(label);
  }
  return placed.sort((one, other) => one.at - other.at).reduce((axis, { at, text }) => axis.padEnd(at) + text, '');
}

function windowOf(cells: readonly Cell[], differing: ReadonlySet<number>): readonly [number, number] {
  const widthAt = (at: number): number => (cells[at]?.width ?? 0) + (cells[at]?.gap.length ?? 0);
  const total = cells.reduce((width, _cell, at) => width + widthAt(at), 0);
  if (total <= maxWidth) return [0, cells.length];
  const first = Math.max(0, cells.findIndex(({ frame }) => differing.has(frame)));
  let from = first;
  for (let room = before; from > 0 && widthAt(from - 1) <= room; from -= 1) room -= widthAt(from - 1);
  let to = from;
  for (let room = maxWidth; to < cells.length && (to <= first || widthAt(to) <= room); to += 1) room -= widthAt(to);
  return [from, to];
}
