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

  constructor(lease: Lease, scheduler: SchedulerLike) {
    this.lease = lease;
    this.scheduler = scheduler;
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

  /** It is due: waits for what is left, else for one more turn. */
  look(): void {
    const ms = this.lease.leftMs();
    if (ms > 0) this.wait(ms);
    else this.action = this.scheduler.schedule(lookAgain, 0, this);
  }

  lookAgain(): void {
    const ms = this.lease.leftMs();
    if (ms > 0) this.wait(ms);
    else this.lease.runOut();
  }

  // Scheduled anew each time: a clock that is held keeps what is scheduled once, not what schedules itself again.
  private wait(ms: number): void {
    if (ms < Infinity) this.action = this.scheduler.schedule(look, ms, this);
  }
}

function look(this: SchedulerAction<Countdown>, countdown?: Countdown): void {
  countdown?.look();
}

function lookAgain(this: SchedulerAction<Countdown>, countdown?: Countdown): void {
  countdown?.lookAgain();
}
