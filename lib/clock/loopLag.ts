const tickMs = 20;

/** The time in which the loop did not get round to a tick, in whole milliseconds. */
interface Lag {
  endMs: number;
  lagMs: number;
}

export interface LagMeter {
  /** Longest delay of the event loop since the meter was started, in whole milliseconds; a second call returns the same. */
  stop(this: void): number;
}

export interface LoopLag {
  start(this: void): LagMeter;
}

/**
 * Measures how long this process kept its own event loop waiting, so that a reader can tell that from a source's silence (M7).
 * A block shows with up to 20 ms less than its length. One unref'd interval serves all meters and stops with the last one.
 */
export function createLoopLag(): LoopLag {
  // Only lags that no later one matched: never more of them than the longest has milliseconds, however long the meters run.
  let lags: Lag[] = [];
  let meters = 0;
  let tickDueMs = 0;
  let interval: NodeJS.Timeout | undefined;

  const tick = (): void => {
    const nowMs = performance.now();
    const lagMs = Math.trunc(nowMs - tickDueMs);
    while ((lags.at(-1)?.lagMs ?? Infinity) <= lagMs) lags.pop();
    if (lagMs > 0) lags.push({ endMs: nowMs, lagMs });
    tickDueMs = nowMs + tickMs;
  };

  const enter = (nowMs: number): void => {
    meters += 1;
    if (meters > 1) return;
    tickDueMs = nowMs + tickMs;
    interval = setInterval(tick, tickMs).unref();
  };

  const leave = (): void => {
    meters -= 1;
    if (meters > 0) return;
    clearInterval(interval);
    lags = [];
  };

  const longestSince = (startMs: number): number => {
    const nowMs = performance.now();
    const pending: Lag = { endMs: nowMs, lagMs: nowMs - tickDueMs };
    // A lag that began before the meter counts from the meter's start, and one that ended before it comes out negative.
    const seen = [...lags, pending].map(({ endMs, lagMs }) => Math.min(lagMs, endMs - startMs));
    return Math.max(0, Math.trunc(Math.max(...seen)));
  };

  return {
    start: () => {
      const startMs = performance.now();
      let longestMs: number | undefined;
      enter(startMs);
      return {
        stop: () => {
          if (longestMs === undefined) {
            longestMs = longestSince(startMs);
            leave();
          }
          return longestMs;
        },
      };
    },
  };
}
