import { EMPTY, Subject, asyncScheduler, catchError, defer, switchMap, takeUntil, tap, throwError } from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike } from 'rxjs';
import { dueAfter } from './quietFor.js';

export interface GraceOptions<T> {
  /** The value that says all that matters has been said. */
  readonly when: (value: T) => boolean;
  /** How long the source may still go on after it, in milliseconds. */
  readonly graceMs: number;
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
 * Before that value errors pass through. Unsubscribing stops timer and source.
 */
export function graceAfter<T>({ when, graceMs, scheduler = asyncScheduler }: GraceOptions<T>): MonoTypeOperatorFunction<T> {
  return (value$) =>
    defer(() => {
      let said = false;
      // A Subject for the one value that matters: multicasting every value would cost more than all the timers do.
      const said$ = new Subject<void>();
      const listen = (value: T): void => {
        if (said || !when(value)) return;
        said = true;
        said$.next();
      };
      return value$.pipe(
        tap({ next: listen }),
        catchError((error: unknown) => (said ? EMPTY : throwError(() => error))),
        takeUntil(said$.pipe(switchMap(() => dueAfter(graceMs, scheduler)))),
      );
    });
}
