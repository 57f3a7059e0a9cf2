import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import { createTally } from './distribution.js';
import { countOutcome, noOutcomes } from './outcomes.js';
import type { SourceFigures, TimeSplit } from './reportFigures.js';
import { longestSilenceMs } from './silences.js';
import { addUp, noTime } from './timeSplit.js';

export interface AttemptCount {
  add(attempt: StoredAttempt, time: TimeSplit): void;
  figures(): Pick<SourceFigures, 'time' | 'ttft' | 'longestSilence' | 'outcomes'>;
}

/** What is told of all attempts and of those of each source. */
export function createAttemptCount(): AttemptCount {
  const sum = noTime();
  const outcomes = noOutcomes();
  const ttft = createTally();
  const longestSilence = createTally();
  return {
    add(attempt, time) {
      addUp(sum, time);
      countOutcome(outcomes, attempt);
      if (attempt.ttft_ms !== null) ttft.add(attempt.ttft_ms);
      const longestMs = longestSilenceMs(attempt);
      if (longestMs !== undefined) longestSilence.add(longestMs);
    },
    figures: () => ({ time: { ...sum }, ttft: ttft.distribution(), longestSilence: longestSilence.distribution(), outcomes: { ...outcomes } }),
  };
}

export interface SourceCounts {
  add(attempt: StoredAttempt, time: TimeSplit): void;
  figures(): readonly SourceFigures[];
}

export function createSourceCounts(): SourceCounts {
  const sources = new Map<string, { readonly provider: string; readonly models: Set<string>; readonly count: AttemptCount }>();
  return {
    add(attempt, time) {
      const found = sources.get(attempt.source) ?? { provider: attempt.provider, models: new Set(), count: createAttemptCount() };
      sources.set(attempt.source, found);
      found.models.add(attempt.model);
      found.count.add(attempt, time);
    },
    figures: () =>
      [...sources]
        .map(([source, { provider, models, count }]) => ({ source, provider, models: [...models].sort(), ...count.figures() }))
        .sort((a, b) => b.time.wallMs - a.time.wallMs || (a.source < b.source ? -1 : 1)),
  };
}
