import { inSeconds } from '../inSeconds.js';
import type { Paint } from '../paint.js';
import type { Lane } from './callTrace.js';

/** How time is laid out from left to right. */
export interface Layout {
  readonly cells: number;
  readonly cellMs: number;
}

export interface DrawCallOptions {
  /** The call's number, for its first line. */
  readonly label: string;
  readonly lanes: readonly Lane[];
  readonly startMs: number;
  readonly nowMs: number;
  readonly layout: Layout;
  readonly paint: Paint;
  /** What the call would have taken unhedged; only for a call that has ended. */
  readonly unhedgedMs?: number;
}

const labelWidth = 4;
const sourceWidth = 10;
const wordsWidth = 28;
const axisMs = 3500;
/** From here on a wait is called silence. */
const silentAfterMs = 250;

/** So that everything fits into this many columns. */
export function layoutFor(columns: number): Layout {
  const cells = Math.max(10, Math.min(columns - 1, 110) - labelWidth - sourceWidth - wordsWidth);
  return { cells, cellMs: axisMs / cells };
}

/** The seconds above the lanes. */
export function drawAxis({ cells, cellMs }: Layout, paint: Paint): string {
  const seconds = Array.from({ length: Math.ceil(axisMs / 1000) }, (_, second) => second);
  const axis = seconds.reduce((line, second) => `${line.padEnd(Math.round((second * 1000) / cellMs))}|${second} s`, '').slice(0, cells);
  return paint('dim', `${'call'.padEnd(labelWidth)} ${'source'.padEnd(sourceWidth - 1)}${axis}`);
}

/** A call as a picture, one line for each attempt. */
export function drawCall({ label, lanes, startMs, nowMs, layout, paint, unhedgedMs }: DrawCallOptions): string[] {
  return lanes.map((lane, at) => {
    const head = `${(at === 0 ? label : '').padStart(labelWidth - 1)}  ${lane.source.padEnd(sourceWidth - 1)}`;
    return `${head}${bar({ lane, startMs, nowMs, layout, paint })} ${words({ lane, startMs, nowMs, paint, unhedgedMs })}`;
  });
}

interface BarOptions {
  readonly lane: Lane;
  readonly startMs: number;
  readonly nowMs: number;
  readonly layout: Layout;
  readonly paint: Paint;
}

function bar({ lane, startMs, nowMs, layout: { cells, cellMs }, paint }: BarOptions): string {
  const cellAt = (ms: number): number => Math.floor((ms - startMs) / cellMs);
  const filled = new Set(lane.incrementsMs.map(cellAt));
  const from = cellAt(lane.startMs);
  const to = cellAt(lastMsOf(lane, nowMs));
  const noticed = lane.noticedMs === undefined ? undefined : cellAt(lane.noticedMs);
  return Array.from({ length: cells }, (_, cell) => {
    if (cell < from || cell > to) return ' ';
    if (cell === to && lane.end?.type === 'cancelled') return paint('red', 'x');
    if (cell === noticed) return paint('yellow', '!');
    return filled.has(cell) ? paint(lane.role === 'backup' ? 'cyan' : 'green', '█') : paint('dim', '·');
  }).join('');
}

/** A whole answer ends with its text, not with the end marker a moment later. */
function lastMsOf({ end, incrementsMs }: Lane, nowMs: number): number {
  if (end?.type !== 'won' && end?.type !== 'answered') return end?.atMs ?? nowMs;
  return incrementsMs.at(-1) ?? end.atMs;
}

interface WordsOptions extends Omit<BarOptions, 'layout'> {
  readonly unhedgedMs: number | undefined;
}

function words({ lane, startMs, nowMs, paint, unhedgedMs }: WordsOptions): string {
  const { end } = lane;
  const quiet = quietWords(lane, end?.atMs ?? nowMs);
  if (end === undefined) return quiet === undefined ? 'answering' : paint('yellow', quiet);
  switch (end.type) {
    case 'cancelled':
      return paint('dim', `${quiet === undefined ? '' : `${quiet}, `}cancelled`);
    case 'failed':
      return paint('red', `failed: ${end.message ?? ''}`.slice(0, wordsWidth - 1).trimEnd());
    case 'answered':
      return 'answered';
    case 'won':
      return paint('green', `won ${inSeconds(end.atMs - startMs, 1)}${lane.role === 'backup' ? insteadOf(unhedgedMs) : ''}`);
    default:
      return end.type satisfies never;
  }
}

function insteadOf(unhedgedMs: number | undefined): string {
  return unhedgedMs === undefined ? '' : ` instead of ${inSeconds(unhedgedMs, 1)}`;
}

/** How long nothing has come; `undefined` while that is usual. */
function quietWords({ incrementsMs, startMs }: Lane, untilMs: number): string | undefined {
  const lastMs = incrementsMs.at(-1);
  const quietMs = untilMs - (lastMs ?? startMs);
  if (lastMs === undefined) return `asked ${inSeconds(quietMs, 1)} ago`;
  return quietMs < silentAfterMs ? undefined : `silent ${inSeconds(quietMs, 1)}`;
}
