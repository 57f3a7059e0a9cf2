import type { AttemptRecord } from '../../model/events.js';
import { lowestFirst } from './rank.js';
import type { Strategy } from './rank.js';

/** What is looked at of an attempt that has ended, however it ended. */
export type EndedAttempt = Pick<AttemptRecord, 'source' | 'streamed' | 'recordGaps' | 'latencyMs' | 'endedMs'>;

/**
 * How far back silence counts. Long enough to hold a few attempts of several minutes at a source that is seldom asked; short
 * enough that one that has recovered is asked again within minutes, since without evidence it counts as not silent.
 */
export const steadyWindowMs = 10 * 60_000;

/** The window moves on in steps of this, so that memory does not grow with traffic. */
const bucketMs = 30_000;

/** Less attempt time than this is held against nobody in full: else one refused connection, all wait, would be all silence. */
const leastEvidenceMs = 5_000;

/**
 * Shares that differ by less than this are noise of a few answers and keep the given order. At the edge of a step two
 * sources may still change places, which does no harm: they are as good as equal.
 */
const shareStep = 1 / 20;

interface Sums {
  readonly silentMs: number;
  readonly attemptMs: number;
}

/**
 * Whoever was silent for the smallest share of its attempt time comes first. Silence is measured by the raw record gaps, so
 * no threshold has a part in it, and in cancelled attempts too: a source whose stalls are always rescued by a hedge never
 * fails, and no breaker sees it.
 */
export function createSteady({ now }: { now: () => number }): { readonly order: Strategy; note(this: void, attempt: EndedAttempt): void } {
  const bySource = new Map<string, ReadonlyMap<number, Sums>>();
  const bucketAt = (ms: number): number => Math.floor(ms / bucketMs);
  const recent = (source: string): [number, Sums][] => {
    const oldest = bucketAt(now() - steadyWindowMs);
    return [...(bySource.get(source) ?? [])].filter(([bucket]) => bucket > oldest);
  };

  return {
    order: lowestFirst(({ id }) => silenceStep(recent(id).map(([, sums]) => sums))),
    note({ source, streamed, recordGaps, latencyMs, endedMs }) {
      // What comes in one piece is one wait from start to end; whether it was silent cannot be told (M2).
      if (!streamed) return;
      const buckets = new Map(recent(source));
      const bucket = bucketAt(endedMs);
      const ended = { silentMs: recordGaps.reduce((sum, [, gapMs]) => sum + gapMs, 0), attemptMs: latencyMs };
      bySource.set(source, buckets.set(bucket, plus(buckets.get(bucket) ?? none, ended)));
    },
  };
}

const none: Sums = { silentMs: 0, attemptMs: 0 };
const plus = (a: Sums, b: Sums): Sums => ({ silentMs: a.silentMs + b.silentMs, attemptMs: a.attemptMs + b.attemptMs });

/** The share of attempt time that was silence, in whole steps. */
function silenceStep(sums: readonly Sums[]): number {
  const { silentMs, attemptMs } = sums.reduce(plus, none);
  return Math.round(silentMs / Math.max(attemptMs, leastEvidenceMs) / shareStep);
}
