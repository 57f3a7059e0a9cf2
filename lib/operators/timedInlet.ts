import { asyncScheduler } from 'rxjs';
import type { SchedulerLike, Subscriber } from 'rxjs';
import { Countdown } from './countdown.js';
import type { Lease } from './countdown.js';
import { Inlet } from './operate.js';

/** An inlet with a lease of its own, whose countdown stops when the source ends or is left; a derived class starts it. */
export abstract class TimedInlet<T, R> extends Inlet<T, R> implements Lease {
  protected readonly scheduler: SchedulerLike;
  protected readonly countdown: Countdown;

  constructor(out: Subscriber<R>, scheduler: SchedulerLike = asyncScheduler, turns = 1) {
    super(out);
    this.scheduler = scheduler;
    this.countdown = new Countdown(this, scheduler, turns);
  }

  override unsubscribe(): void {
    this.countdown.stop();
    super.unsubscribe();
  }

  abstract leftMs(): number;
  abstract runOut(): void;
}
