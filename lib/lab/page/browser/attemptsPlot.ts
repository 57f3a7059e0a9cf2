import { axisX, gridX, plot, pointer, rect, text, tip } from '@observablehq/plot';
import type { SlowAttempt, SlowCall } from '../../report/reportFigures.js';
import { endWords, roleWords } from './attemptWords.js';
import { fillOf } from './paints.js';
import type { Paint } from './paints.js';
import { firstWait, output, silence } from './timeParts.js';
import { linearTicks, tickTime } from './timeScale.js';
import { duration } from './words.js';

const notKnown: Paint = { name: 'not known', colour: 'whole', pattern: 'plain' };

/** What there is in the timelines of calls, for a legend. */
export function gapPaints(calls: readonly SlowCall[]): readonly Paint[] {
  const known = calls.every(({ attempts }) => attempts.every(isKnown));
  return [output, firstWait, silence, ...(known ? [] : [notKnown])];
}

/** Every stream begins with a recorded wait: of one without any gap there is no record. */
const isKnown = ({ silences }: SlowAttempt): boolean => silences.length > 0;

interface Bar {
  readonly attempt: SlowAttempt;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly paint: Paint;
}

const barHeight = 18;
const lineHeight = 18;
const marginLeft = 12;
const marginRight = 28;

/** A bar an attempt from its start to its end, its silences shaded; what it was and how it ended stand above it. */
export function attemptsPlot({ width, call: { attempts, callMs } }: { readonly width: number; readonly call: SlowCall }): Element {
  // Where both do not fit beside each other, the end stands under the name.
  const lines = width < 560 ? 2 : 1;
  const labelHeight = lines * lineHeight + 4;
  const rowHeight = labelHeight + barHeight + 8;
  const tops = attempts.map((attempt, index) => ({ attempt, top: index * rowHeight }));
  const bars = tops.flatMap(({ attempt, top }) => [barOf(attempt, top), ...silencesOf(attempt, top)]);
  const end = Math.max(callMs, 1, ...attempts.map(({ endMs }) => endMs));
  const ticks = linearTicks(end, width / 105);
  const middle = ({ top }: { readonly top: number }): number => top + lineHeight / 2 + 1;
  const over = (row: { readonly top: number }): number => middle(row) + (lines - 1) * lineHeight;
  const under = ({ top }: { readonly top: number }): number => top + labelHeight + barHeight;
  return plot({
    width,
    height: attempts.length * rowHeight + 42,
    marginLeft,
    marginRight,
    marginTop: 0,
    marginBottom: 42,
    x: { domain: [0, end] },
    y: { type: 'identity', axis: null },
    marks: [
      gridX({ ticks }),
      rect(bars, { x1: 'from', x2: 'to', y1: (d: Bar) => d.top + labelHeight, y2: under, fill: (d: Bar) => fillOf(d.paint) }),
      rect(bars.filter(({ attempt, paint }) => attempt.won && (paint === output || paint === notKnown)), { x1: 'from', x2: 'to', y1: (d: Bar) => d.top + labelHeight, y2: under, stroke: 'var(--ink)', strokeWidth: 2.5 }),
      ...[true, false].map((won) => text(tops.filter(({ attempt }) => attempt.won === won), { frameAnchor: 'left', y: middle, text: ({ attempt }: { attempt: SlowAttempt }) => nameOf(attempt), fontWeight: won ? 700 : 400, lineWidth: (width - 40) / 14 - (lines === 1 ? 14 : 0), textOverflow: 'ellipsis' })),
      text(tops, { frameAnchor: lines === 1 ? 'right' : 'left', y: over, text: ({ attempt }: { attempt: SlowAttempt }) => `${endWords(attempt)} at ${duration(attempt.endMs)}`, fill: 'var(--muted)' }),
      axisX({ ticks, tickFormat: tickTime, label: 'since the call\u2019s entering', labelAnchor: 'center', labelOffset: 37, labelArrow: 'none' }),
      tip(bars, pointer({ x: (d: Bar) => (d.from + d.to) / 2, y: (d: Bar) => d.top + labelHeight + barHeight / 2, title: (d: Bar) => `${nameOf(d.attempt)}\n${d.paint.name}: ${duration(d.to - d.from)}`, maxRadius: 60 })),
    ],
  });
}

const nameOf = (attempt: SlowAttempt): string => `${attempt.source}, ${attempt.round > 1 ? `round ${attempt.round}, ` : ''}${roleWords(attempt)}`;

const barOf = (attempt: SlowAttempt, top: number): Bar => ({ attempt, top, from: attempt.startMs, to: Math.max(attempt.endMs, attempt.startMs), paint: isKnown(attempt) ? output : notKnown });

/** The one that begins with the attempt is the wait for its first words. */
const silencesOf = (attempt: SlowAttempt, top: number): Bar[] =>
  attempt.silences.map(([offsetMs, gapMs]) => {
    const from = attempt.startMs + offsetMs;
    return { attempt, top, from, to: Math.min(attempt.endMs, from + gapMs), paint: offsetMs === 0 ? firstWait : silence };
  });
