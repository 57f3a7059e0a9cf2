import { asyncScheduler } from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike, Unsubscribable } from 'rxjs';
import { operate } from './operate.js';
import { whenUsedUp } from './whenUsedUp.js';

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
export function graceAfter<T>({ when, unless = () => false, graceMs, scheduler = asyncScheduler }: GraceOptions<T>): MonoTypeOperatorFunction<T> {
  return operate((out, source) => {
    let grace: Unsubscribable | undefined;

    function begin(): Unsubscribable {
      const endMs = scheduler.now() + graceMs;
      return whenUsedUp({ leftMs: () => endMs - scheduler.now(), act: () => out.complete(), scheduler });
    }

    source.add(() => grace?.unsubscribe());
    return {
      next(value) {
        if (grace === undefined) {
          if (when(value)) grace = begin();
        } else if (unless(value)) {
          grace.unsubscribe();
          grace = undefined;
        }
        out.next(value);
      },
      error(error) {
        if (grace === undefined) out.error(error);
        else out.complete();
      },
    };
  });
}
