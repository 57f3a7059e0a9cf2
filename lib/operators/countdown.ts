import type { SchedulerAction, SchedulerLike, Subscription } from 'rxjs';

/** What runs out. */
export interface Lease {
  /** Milliseconds that are left; what they are reckoned from may move on meanwhile. `Infinity`: nothing runs out. */
  leftMs(): number;
  /** Called when nothing is left. */
  runOut(): void;
}

/**
 * Waits until nothing is left of a lease. The timer is not moved for each sign of life: when it is due it looks how much is
 * left and waits for that (a top-up). What is due takes one more turn on the scheduler and looks again, so that a value of the
 * same instant wins (T4).
 */
export class Countdown {
  private action: Subscription | undefined;
  private readonly lease: Lease;
  private readonly scheduler: SchedulerLike;
  private readonly turns: number;
  private turn = 0;

  /** `turns`: how many it takes when it is due. */
  constructor(lease: Lease, scheduler: SchedulerLike, turns = 1) {
    this.lease = lease;
    this.scheduler = scheduler;
    this.turns = turns;
  }

  /** Begins, or begins anew. */
  start(): void {
    this.stop();
    this.wait(Math.max(0, this.lease.leftMs()));
  }

  stop(): void {
    this.action?.unsubscribe();
    this.action = undefined;
  }

  /** Waits for what is left; if nothing is, for the turns that it takes. */
  look(): void {
    const ms = this.lease.leftMs();
    if (ms > 0) this.wait(ms);
    else if (this.turn === this.turns) this.lease.runOut();
    else {
      this.turn += 1;
      this.action = this.scheduler.schedule(look, 0, this);
    }
  }

  // Scheduled anew each time: a clock that is held keeps what is scheduled once, not what schedules itself again.
  private wait(ms: number): void {
    this.turn = 0;
    if (ms < Infinity) this.action = this.scheduler.schedule(look, ms, this);
  }
}

function look(this: SchedulerAction<Countdown>, countdown?: Countdown): void {
  countdown?.look();
}
