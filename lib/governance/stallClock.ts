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
  return new Complement(now);
}

/** A class, since one is held for each stream. */
class Complement implements StallClock {
  private readonly enteredMs: number;
  private productiveMs = 0;
  private inFlight = 0;
  private sinceMs = 0;
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
    this.enteredMs = now();
  }

  attempting(): () => void {
    if (this.inFlight === 0) this.sinceMs = this.now();
    this.inFlight += 1;
    return () => {
      this.inFlight -= 1;
      if (this.inFlight === 0) this.productiveMs += this.now() - this.sinceMs;
    };
  }

  stalledMs(): number {
    const idleMs = this.now() - this.enteredMs - this.productiveMs;
    return this.inFlight > 0 ? idleMs - (this.now() - this.sinceMs) : idleMs;
  }
}
