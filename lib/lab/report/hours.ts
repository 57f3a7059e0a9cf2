import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import type { HourFigures, ReportFigures, TimeSplit } from './reportFigures.js';
import { addUp, noTime } from './timeSplit.js';
import type { Sum } from './timeSplit.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const mostSteps = 1000;

interface Step {
  readonly time: Sum<TimeSplit>;
  readonly counts: { backups: number; failed: number };
}

export interface Hours {
  add(attempt: StoredAttempt, time: TimeSplit): void;
  figures(): Pick<ReportFigures, 'step' | 'hours'>;
}

/** Sums by the hour, in UTC, in which an attempt started. */
export function createHours(): Hours {
  const hours = new Map<number, Step>();
  return {
    add(attempt, time) {
      const step = stepAt(hours, floor(attempt.startedAtMs, hourMs));
      addUp(step.time, time);
      if (attempt.role === 'backup') step.counts.backups += 1;
      if (hasFailed(attempt)) step.counts.failed += 1;
    },
    figures: () => (hours.size > mostSteps ? { step: 'day', hours: listed(byDay(hours)) } : { step: 'hour', hours: listed(hours) }),
  };
}

function stepAt(steps: Map<number, Step>, fromMs: number): Step {
  const found = steps.get(fromMs) ?? { time: noTime(), counts: { backups: 0, failed: 0 } };
  steps.set(fromMs, found);
  return found;
}

function byDay(hours: ReadonlyMap<number, Step>): ReadonlyMap<number, Step> {
  const days = new Map<number, Step>();
  for (const [fromMs, { time, counts }] of hours) {
    const day = stepAt(days, floor(fromMs, dayMs));
    addUp(day.time, time);
    addUp(day.counts, counts);
  }
  return days;
}

function listed(steps: ReadonlyMap<number, Step>): readonly HourFigures[] {
  return [...steps].sort(([a], [b]) => a - b).map(([fromMs, { time, counts }]) => ({ from: new Date(fromMs).toISOString(), time: { ...time }, ...counts }));
}

function hasFailed({ outcome, error_class }: StoredAttempt): boolean {
  return outcome === 'error' && error_class !== 'hedge_cancelled' && error_class !== 'caller_cancelled';
}

function floor(atMs: number, stepMs: number): number {
  return Math.floor(atMs / stepMs) * stepMs;
}
