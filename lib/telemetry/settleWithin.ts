import type { SchedulerLike } from 'rxjs';

export interface Failure {
  readonly error: unknown;
}

export interface BoundedTask {
  readonly run: () => void | PromiseLike<void>;
  readonly limitMs: number;
  readonly scheduler: SchedulerLike;
  /** Called when the limit has passed; what it throws is ignored. */
  readonly onLimit?: () => void;
}

/**
 * Runs a task now and tells `done` exactly once how it ended, or that it did not end within `limitMs`. Never throws
 * itself. A task that ends at once arms no timer and needs no promise.
 */
export function settleWithin({ run, limitMs, scheduler, onLimit }: BoundedTask, done: (failure?: Failure) => void): void {
  const task = started(run);
  if (!('promise' in task)) {
    done(task.failure);
    return;
  }
  let isOpen = true;
  function end(failure?: Failure): void {
    if (!isOpen) return;
    isOpen = false;
    limit.unsubscribe();
    done(failure);
  }
  const limit = scheduler.schedule(() => {
    if (onLimit) started(onLimit);
    end({ error: new Error(`no answer within ${limitMs / 1000} s`) });
  }, limitMs);
  task.promise.then(
    () => end(),
    (error: unknown) => end({ error }),
  );
}

function started(run: () => void | PromiseLike<void>): { promise: Promise<void> } | { failure?: Failure } {
  try {
    const result = run();
    return isPromiseLike(result) ? { promise: Promise.resolve(result) } : {};
  } catch (error: unknown) {
    return { failure: { error } };
  }
}

function isPromiseLike(result: unknown): result is PromiseLike<void> {
  return typeof result === 'object' && result !== null && 'then' in result && typeof result.then === 'function';
}
