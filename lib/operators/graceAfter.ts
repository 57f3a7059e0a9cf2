import type { MonoTypeOperatorFunction, SchedulerLike, Subscriber } from 'rxjs';
import { operate } from './operate.js';
import { TimedInlet } from './timedInlet.js';

/** When the grace begins, and how long it lasts. */
export interface GraceOptions<T> {
  /** The value that says all that matters has been said. */
  readonly when: (value: T) => boolean;
  /** A later value that shows that there is more to come: the grace is off, as before the other; default: none. */
  readonly unless?: (value: T) => boolean;
  /** How long the source may still go on after it, in milliseconds. */
  readonly graceMs: number;
  /** The one clock; default: RxJS's `asyncScheduler`, which is virtual inside `TestScheduler.run`. */
  readonly scheduler?: SchedulerLike;
}

/**
 * From the value on that `when` selects, the source has `graceMs` left to complete by itself; then, or if it fails, the
 * result completes.
 *
 *     source:    --a--F--u-----------        when: F
 *     graceMs:        -------|
 *     result:    --a--F--u---|
 *
 * Before that value, and after one that `unless` selects, errors pass through; what comes at the very instant of the limit is
 * still passed on. Unsubscribing stops timer and source.
 *
 *     delta$.pipe(graceAfter({ when: ({ type }) => type === 'finish', graceMs: 2_000 })).subscribe(console.log);
 */
export function graceAfter<T>(options: GraceOptions<T>): MonoTypeOperatorFunction<T> {
  return operate((out) => new Graced(options, out));
}

class Graced<T> extends TimedInlet<T, T> {
  /** `Infinity`: it has not begun. */
  private endMs = Infinity;
  private readonly options: GraceOptions<T>;

  constructor(options: GraceOptions<T>, out: Subscriber<T>) {
    super(out, options.scheduler);
    this.options = options;
  }

  leftMs(): number {
    return this.endMs - this.scheduler.now();
  }

  runOut(): void {
    this.out.complete();
  }

  protected onNext(value: T): void {
    const { when, unless, graceMs } = this.options;
    if (this.endMs === Infinity) {
      if (when(value)) this.begin(graceMs);
    } else if (unless?.(value) === true) {
      this.endMs = Infinity;
      this.countdown.stop();
    }
    this.out.next(value);
  }

  protected override onError(error: unknown): void {
    if (this.endMs === Infinity) this.out.error(error);
    else this.out.complete();
  }

  private begin(graceMs: number): void {
    this.endMs = this.scheduler.now() + graceMs;
    this.countdown.start();
  }
}
