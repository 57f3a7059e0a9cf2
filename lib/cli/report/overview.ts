import type { StoredAttempt } from '../../telemetry/attemptReader.js';

/** What calls are about: when they were made, and for whose settings. */
export interface Overview {
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  /** The scope with the most streamed calls, since only they can be hedged in mid-stream; `undefined` for none. */
  readonly scope: string | undefined;
}

export interface OverviewTaker {
  add(this: void, call: readonly StoredAttempt[]): void;
  overview(this: void): Overview;
}

/** Gathers the overview of calls in passing. */
export function createOverview(): OverviewTaker {
  const streamedCalls = new Map<string, number>();
  let [firstAtMs, lastAtMs] = [Infinity, -Infinity];
  return {
    add(call) {
      const [first] = call;
      if (first === undefined) return;
      if (first.streamed) streamedCalls.set(first.scope, (streamedCalls.get(first.scope) ?? 0) + 1);
      for (const { startedAtMs } of call) [firstAtMs, lastAtMs] = [Math.min(firstAtMs, startedAtMs), Math.max(lastAtMs, startedAtMs)];
    },
    overview: () => ({
      firstAt: dateOf(firstAtMs),
      lastAt: dateOf(lastAtMs),
      scope: [...streamedCalls].sort(([, a], [, b]) => b - a)[0]?.[0],
    }),
  };
}

function dateOf(atMs: number): string | null {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString() : null;
}
