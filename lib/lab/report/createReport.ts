import type { AttemptFilter, StoredAttempt } from '../../telemetry/attemptReader.js';
import { callTimes } from './callTimes.js';
import { createTally } from './distribution.js';
import { createHedgeCount } from './hedges.js';
import { createHours } from './hours.js';
import type { ReportFigures } from './reportFigures.js';
import { midSilences } from './silences.js';
import { createSlowestCalls } from './slowest.js';
import { createAttemptCount, createSourceCounts } from './sourceFigures.js';
import { timeOf } from './timeSplit.js';

/** What the rows do not tell. */
export interface ReportHead {
  readonly madeAt: Date;
  /** The database without user and password. */
  readonly database: string;
  /** What the calls were chosen by. */
  readonly filter: AttemptFilter;
}

export interface Report {
  /** The attempts of one call, in order. */
  add(call: readonly StoredAttempt[]): void;
  figures(head: ReportHead): ReportFigures;
}

// What M7 tells silence of the source from: this process itself stood still.
const blockedMs = 1000;

/** Takes calls one by one and keeps sums and counts only, so that any number of them fits. */
export function createReport(): Report {
  const all = createAttemptCount();
  const sources = createSourceCounts();
  const hedges = createHedgeCount();
  const hours = createHours();
  const slowest = createSlowestCalls();
  const [gaps, wall, net, latency, callNet] = [createTally(), createTally(), createTally(), createTally(), createTally()];
  const seen = { calls: 0, answered: 0, blocked: 0, firstAtMs: Infinity, lastAtMs: -Infinity };

  function addAttempt(attempt: StoredAttempt): void {
    const time = timeOf(attempt);
    all.add(attempt, time);
    sources.add(attempt, time);
    hours.add(attempt, time);
    for (const [, lengthMs] of midSilences(attempt)) gaps.add(lengthMs);
    if (attempt.stall_ms !== null) {
      wall.add(time.wallMs);
      net.add(netOf(time.wallMs, attempt.stall_ms));
    }
    if ((attempt.loop_lag_ms ?? 0) > blockedMs) seen.blocked += 1;
    seen.firstAtMs = Math.min(seen.firstAtMs, attempt.startedAtMs);
    seen.lastAtMs = Math.max(seen.lastAtMs, attempt.startedAtMs);
  }

  return {
    add(call) {
      for (const attempt of call) addAttempt(attempt);
      hedges.add(call);
      const times = callTimes(call);
      slowest.add(call, times);
      seen.calls += 1;
      if (times.winner === undefined) return;
      seen.answered += 1;
      latency.add(times.callMs);
      if (times.winner.stall_ms !== null) callNet.add(netOf(times.callMs, times.winner.stall_ms));
    },
    figures({ madeAt, database, filter }) {
      const { time: overall, ...figures } = all.figures();
      return {
        madeAt: madeAt.toISOString(),
        database,
        filter: { since: filter.since?.toISOString() ?? null, until: filter.until?.toISOString() ?? null, source: filter.source ?? null, tags: filter.tags ?? {} },
        firstAt: dateOrNull(seen.firstAtMs),
        lastAt: dateOrNull(seen.lastAtMs),
        overall,
        ...figures,
        sources: sources.figures(),
        gaps: gaps.distribution(),
        wall: wall.distribution(),
        net: net.distribution(),
        calls: { calls: seen.calls, answered: seen.answered, latency: latency.distribution(), net: callNet.distribution() },
        hedges: hedges.figures(),
        slowest: slowest.calls(),
        ...hours.figures(),
        blocked: seen.blocked,
      };
    },
  };
}

function netOf(wallMs: number, stallMs: number): number {
  return Math.max(0, wallMs - stallMs);
}

function dateOrNull(atMs: number): string | null {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString() : null;
}
