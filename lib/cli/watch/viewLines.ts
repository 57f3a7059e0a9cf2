import type { WatchedSource, WatchedStream, WatchHello, WatchState } from '../../telemetry/watch/watchMessage.js';
import { inSeconds } from '../inSeconds.js';
import type { Paint, Style } from '../paint.js';
import { cell, fit } from './fit.js';
import type { Piece } from './fit.js';
import type { HedgeCounts, WatchView } from './watchView.js';

export interface ViewSize {
  readonly columns: number;
  /** No more lines than this; default: as many as there are. */
  readonly rows?: number;
  readonly paint: Paint;
}

type Line = readonly Piece[];

const mostSources = 6;
const mostEvents = 5;
const leastStreams = 3;
/** Snapshots come five times a second: after this long something holds the process up. */
const overdueMs = 1500;

/** The whole view, made to fit. */
export function viewLines(view: WatchView, { columns, rows = Infinity, paint }: ViewSize): string[] {
  const { hello, state } = view;
  if (hello === undefined || state === undefined) return ['waiting for the first snapshot'];
  const head = headLines(view, hello, state);
  const sources = sourceLines(hello, state, rows === Infinity ? Infinity : mostSources);
  const events = view.recent.slice(-mostEvents).map((text): Line => [['dim', text.slice(0, 8)], text.slice(8)]);
  const room = rows - head.length - sources.length - (events.length === 0 ? 0 : events.length + 1) - 3;
  const streams = streamLines(hello, state, { most: Math.max(leastStreams, room), columns });
  const lines = [...head, [], ...sources, [], ...streams, ...(events.length === 0 ? [] : [[], ...events])];
  return lines.slice(0, rows).map((line) => fit(line, columns, paint));
}

function headLines({ hedges, closed, heardMs, nowMs }: WatchView, { scope, pid, host, version, startedAt, sentAt, atMs }: WatchHello, state: WatchState): Line[] {
  const upMs = Date.parse(sentAt) - Date.parse(startedAt) + state.atMs - atMs;
  const late: Line = nowMs - heardMs > overdueMs && !closed ? ['   ', ['yellow', `no news for ${inSeconds(nowMs - heardMs, 0)}: the process is held up`]] : [];
  return [
    [['bold', scope], `  pid ${pid} on ${host}, up ${duration(upMs)}, polygateway ${version}`],
    [`${state.calls} calls, ${state.attempts} attempts, ${state.waiters} waiting`, ...late],
    [`hedges seen: ${hedgeWords(hedges)}`, ...(state.missed > 0 ? [['yellow', `   ${state.missed} events missed`] as const] : [])],
  ];
}

function hedgeWords({ fired, won, lost, refused }: HedgeCounts): string {
  const gates = Object.entries(refused);
  const total = gates.reduce((sum, [, count]) => sum + count, 0);
  return `${fired} fired, ${won} won, ${lost} lost, ${total} refused${total === 0 ? '' : ` (${gates.map(([gate, count]) => `${gate} ${count}`).join(', ')})`}`;
}

const sourceWidths = [20, 11, 11, 8, 10, 9];
const idWidth = 20;

function sourceLines({ sources }: WatchHello, state: WatchState, most: number): Line[] {
  const head: Line = [['bold', ['source', 'breaker', 'permits', 'paced', 'parked', 'streams', 'silent'].map((title, at) => cell(title, sourceWidths[at] ?? 15)).join('')]];
  return [head, ...sources.slice(0, most).map((source) => sourceLine(source, state)), ...moreLine(sources.length - most, 'sources')];
}

function sourceLine({ id, maxConcurrency }: WatchedSource, { breakers, permits, paced, parked, streams, unnamed }: WatchState): Line {
  const [, breakerWidth = 0, permitsWidth = 0, pacedWidth = 0, parkedWidth = 0, streamsWidth = 0] = sourceWidths;
  const phase = breakers[id] ?? 'closed';
  const own = streams.filter(({ source }) => source === id);
  const parkedMs = parked[id];
  return [
    cell(id, idWidth),
    [breakerStyles[phase], cell(phase, breakerWidth)],
    cell(`${permits[id] ?? 0}${maxConcurrency === null ? '' : `/${maxConcurrency}`}`, permitsWidth),
    cell(String(paced[id] ?? '-'), pacedWidth),
    cell(parkedMs === undefined ? '-' : inSeconds(parkedMs, 1), parkedWidth),
    cell(String(own.length + (unnamed[id] ?? 0)), streamsWidth),
    own.length === 0 ? '-' : duration(Math.max(...own.map(({ silentMs }) => silentMs))),
  ];
}

const breakerStyles = { closed: 'green', open: 'red', 'half-open': 'yellow' } as const satisfies Record<string, Style>;

const streamWidths = { role: 9, silent: 11, chunks: 8, age: 11 };

function streamLines(hello: WatchHello, { streams, unnamed }: WatchState, { most, columns }: { most: number; columns: number }): Line[] {
  const { role, silent, chunks, age } = streamWidths;
  const barWidth = Math.min(40, Math.max(5, columns - idWidth - role - silent - chunks - age - 2));
  const head: Line = [['bold', cell('open stream', idWidth) + cell('role', role) + cell('silent', silent) + cell(barTitle(hello), barWidth + 2) + cell('chunks', chunks) + 'age']];
  const longest = [...streams].sort((a, b) => b.silentMs - a.silentMs);
  const scaleMs = longest[0]?.silentMs ?? 0;
  const hidden = longest.length > most ? longest.length - most + 1 : 0;
  const shown = longest.slice(0, longest.length - hidden);
  if (shown.length === 0) return [head, [['dim', 'none']]];
  return [head, ...shown.map((stream) => streamLine(stream, { limitMs: limitOf(stream, hello), scaleMs, barWidth, stallMs: hello.thresholds.stallThresholdMs })), ...moreLine(hidden + Object.values(unnamed).reduce((sum, count) => sum + count, 0), 'streams')];
}

function barTitle({ thresholds: { hedgeAfterMs, hedgeStallAfterMs } }: WatchHello): string {
  const limits = [...new Set([hedgeAfterMs, hedgeStallAfterMs].filter((ms) => ms !== null))];
  return limits.length === 0 ? 'no hedging' : `hedge after ${limits.map((ms) => inSeconds(ms, 0)).join(' / ')}`;
}

/** The silence after which a backup is asked for; `null`: never. */
function limitOf({ increments, role }: WatchedStream, { thresholds: { hedgeAfterMs, hedgeStallAfterMs } }: WatchHello): number | null {
  if (role === 'backup') return null;
  return increments === 0 ? hedgeAfterMs : hedgeStallAfterMs;
}

interface StreamLineOptions {
  readonly limitMs: number | null;
  /** A full bar, where there is no limit. */
  readonly scaleMs: number;
  readonly stallMs: number;
  readonly barWidth: number;
}

function streamLine({ source, role, silentMs, increments, openMs }: WatchedStream, { limitMs, scaleMs, stallMs, barWidth }: StreamLineOptions): Line {
  const share = Math.min(1, silentMs / Math.max(1, limitMs ?? scaleMs));
  const filled = Math.round(share * barWidth);
  const style: Style = limitMs !== null && silentMs >= limitMs ? 'red' : silentMs > stallMs ? 'yellow' : 'green';
  return [
    cell(source, idWidth),
    cell(role, streamWidths.role),
    [style, cell(duration(silentMs), streamWidths.silent)],
    [style, '█'.repeat(filled)],
    ['dim', '·'.repeat(barWidth - filled)],
    '  ',
    cell(String(increments), streamWidths.chunks),
    duration(openMs),
  ];
}

function moreLine(count: number, what: string): Line[] {
  return count > 0 ? [[['dim', `and ${count} more ${what}`]]] : [];
}

/** `14.2 s`, `200 s`, `17 min`, `2 h 10 min`. */
function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1000) return inSeconds(seconds * 1000, seconds < 99.95 ? 1 : 0);
  const minutes = Math.floor(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
