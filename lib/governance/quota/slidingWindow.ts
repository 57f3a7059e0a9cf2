/** What one request spends, for as long as the window remembers it. */
export interface Spending {
  readonly atMs: number;
  tokens: number;
  running: boolean;
  remembered: boolean;
  older: Spending | undefined;
  newer: Spending | undefined;
}

export interface Spent {
  readonly requests: number;
  readonly tokens: number;
}

/**
 * The requests of the last `lengthMs` and their tokens. What was spent at t counts in [t, t + lengthMs). Every call says
 * what time it is, so that one decision sees one time.
 */
export interface SlidingWindow {
  spent(nowMs: number): Spent;
  spend(tokens: number, nowMs: number): Spending;
  /** The request has ended; `null`: what was thought of it stands. Nothing, once it has left the window. */
  settle(spending: Spending, tokens: number | null, nowMs: number): void;
  /** Takes the request out again, as if it had never been. */
  withdraw(spending: Spending, nowMs: number): void;
  /** When the oldest request leaves. */
  requestLeavesInMs(nowMs: number): number;
  /** When so many tokens will have left: as things stand, and if all that still run turn out to have used nothing. */
  tokensLeaveInMs(tokens: number, nowMs: number): { readonly asThingsStand: number; readonly atTheEarliest: number };
}

/** A chain and not an array, since any request may be taken out, and a grant must not cost more where many are remembered. */
export function createSlidingWindow({ lengthMs = 60_000 }: { lengthMs?: number } = {}): SlidingWindow {
  let oldest: Spending | undefined;
  let newest: Spending | undefined;
  let requests = 0;
  let tokens = 0;
  let runningTokens = 0;

  function forget(spending: Spending): void {
    const { older, newer } = spending;
    if (older === undefined) oldest = newer;
    else older.newer = newer;
    if (newer === undefined) newest = older;
    else newer.older = older;
    // A long stream holds its spending long after; it must not hold all that came later.
    spending.older = spending.newer = undefined;
    spending.remembered = false;
    requests -= 1;
    tokens -= spending.tokens;
    if (spending.running) runningTokens -= spending.tokens;
  }

  function forgetUntil(nowMs: number): void {
    while (oldest !== undefined && oldest.atMs + lengthMs <= nowMs) forget(oldest);
  }

  function leaveInMs(excess: number, nowMs: number, counts: (spending: Spending) => boolean): number {
    let left = excess;
    let inMs = 0;
    for (let spending = oldest; left > 0 && spending !== undefined; spending = spending.newer) {
      if (!counts(spending)) continue;
      left -= spending.tokens;
      inMs = spending.atMs + lengthMs - nowMs;
    }
    return inMs;
  }

  return {
    spent(nowMs) {
      forgetUntil(nowMs);
      return { requests, tokens };
    },
    spend(amount, nowMs) {
      const spending: Spending = { atMs: nowMs, tokens: amount, running: true, remembered: true, older: newest, newer: undefined };
      if (newest === undefined) oldest = spending;
      else newest.newer = spending;
      newest = spending;
      requests += 1;
      tokens += amount;
      runningTokens += amount;
      return spending;
    },
    settle(spending, used, nowMs) {
      forgetUntil(nowMs);
      if (!spending.remembered) return;
      runningTokens -= spending.tokens;
      tokens += (used ?? spending.tokens) - spending.tokens;
      spending.tokens = used ?? spending.tokens;
      spending.running = false;
    },
    withdraw(spending, nowMs) {
      forgetUntil(nowMs);
      if (spending.remembered) forget(spending);
    },
    requestLeavesInMs(nowMs) {
      forgetUntil(nowMs);
      return oldest === undefined ? 0 : oldest.atMs + lengthMs - nowMs;
    },
    tokensLeaveInMs(excess, nowMs) {
      forgetUntil(nowMs);
      return {
        asThingsStand: leaveInMs(excess, nowMs, () => true),
        atTheEarliest: leaveInMs(excess - runningTokens, nowMs, ({ running }) => !running),
      };
    },
  };
}
