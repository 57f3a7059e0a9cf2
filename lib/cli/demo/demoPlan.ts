import { mulberry32 } from '../../lab/mulberry32.js';
import { randomTimeline } from '../../lab/upstream/randomTimeline.js';
import type { Timeline } from '../../lab/upstream/timeline.js';

/** What the first source plays for one call, and so what the call takes if nobody else is asked. */
export interface PlannedCall {
  readonly primary: Timeline;
  /** What the second source plays, should it be asked. */
  readonly backup: Timeline;
  readonly unhedged: UnhedgedFigures;
}

export interface UnhedgedFigures {
  readonly wallMs: number;
  readonly stallMs: number;
}

export interface PlanOptions {
  readonly calls: number;
  readonly seed: number;
  readonly stallThresholdMs: number;
}

const shape = { increments: 16, firstMs: 200, gapMs: 40 };

/** Half of the answers fall silent, most of them for long; one, where there are several, only so long that it wins nevertheless. */
export function planDemo({ calls, seed, stallThresholdMs }: PlanOptions): PlannedCall[] {
  const random = mulberry32(seed);
  return silences(calls, random).map((silence) => {
    const primary = randomTimeline({ ...shape, random, ...silence });
    const backup = randomTimeline({ ...shape, random, stallShare: 0 });
    return { primary, backup, unhedged: unhedgedFigures(primary, stallThresholdMs) };
  });
}

type Silence = { stallShare: 0 } | { stallShare: 1; stallMinMs: number; stallMaxMs: number };

const none: Silence = { stallShare: 0 };
const long: Silence = { stallShare: 1, stallMinMs: 3000, stallMaxMs: 8000 };
const short: Silence = { stallShare: 1, stallMinMs: 1200, stallMaxMs: 1250 };

function silences(calls: number, random: () => number): Silence[] {
  const stalled = Math.ceil(calls / 2);
  const all = Array.from({ length: calls }, (_, at) => (at >= stalled ? none : at === 3 ? short : long));
  return shuffled(all, random);
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Known exactly, since the script says when everything comes. */
export function unhedgedFigures(timeline: Timeline, stallThresholdMs: number): UnhedgedFigures {
  const incrementsMs = timeline.filter(({ type }) => type === 'content').map(({ atMs }) => atMs);
  const gapsMs = incrementsMs.slice(1).map((atMs, at) => atMs - (incrementsMs[at] ?? atMs));
  return {
    wallMs: timeline.at(-1)?.atMs ?? 0,
    stallMs: gapsMs.filter((gapMs) => gapMs > stallThresholdMs).reduce((sum, gapMs) => sum + gapMs, 0),
  };
}
