import { finalize, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';

/** A notification in the form that a parsed marble diagram has. */
export interface Told {
  readonly frame: number;
  readonly notification: { readonly kind: 'N' | 'E' | 'C'; readonly value?: unknown; readonly error?: unknown };
}

export interface RecordedCall {
  readonly told: readonly Told[];
  leave(this: void): void;
}

/** Subscribes and writes down what is said and when; `onEnd` runs in the subscriber's own handler, or right after it has left. */
export function recordCall(call$: Observable<unknown>, scheduler: TestScheduler, onEnd: () => void): RecordedCall {
  const told: Told[] = [];
  const note = (notification: Told['notification']): void => void told.push({ frame: scheduler.now(), notification });
  let ended = false;
  const end = (): void => {
    if (!ended) onEnd();
    ended = true;
  };
  const subscription = call$.pipe(tap({ next: (value) => { if (isLast(value)) end(); }, error: end }), finalize(end)).subscribe({
    next: (value) => note({ kind: 'N', value }),
    error: (error: unknown) => note({ kind: 'E', error }),
    complete: () => note({ kind: 'C' }),
  });
  return { told, leave: () => subscription.unsubscribe() };
}

/** What is passed on before the end of a call has a type of its own. */
function isLast(value: unknown): boolean {
  return (value as { type?: string }).type === undefined || (value as { type?: string }).type === 'end';
}
