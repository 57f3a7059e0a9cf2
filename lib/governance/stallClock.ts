/**
 * How long a call has done nothing useful (B2): its age minus the time with at least one attempt in flight. A complement
 * on purpose: a new kind of wait counts by itself. One per call, never shared.
 */
export interface StallClock {
  /** An attempt starts; returns what to call when it ends. */
  attempting(): () => void;
  stalledMs(): number;
}

export function createStallClock({ now }: { now: () => number }): StallClock {
  const enteredMs = now();
  let productiveMs = 0;
  let inFlight = 0;
  let sinceMs = 0;

  return {
    attempting() {
      if (inFlight++ === 0) sinceMs = now();
      return () => {
        if (--inFlight === 0) productiveMs += now() - sinceMs;
      };
    },
    stalledMs: () => now() - enteredMs - productiveMs - (inFlight > 0 ? now() - sinceMs : 0),
  };
}
