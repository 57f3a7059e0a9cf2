import { defer, merge, retry, switchMap, take, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike, Subscription } from 'rxjs';
import type { RedisConnection, Word } from './connection.js';

export interface Delivery<R> {
  readonly script: Word['script'];
  readonly keys: readonly string[];
  /** Asked anew for each try. */
  readonly ask: () => Readonly<Record<string, unknown>>;
  readonly onAnswer?: (answer: R) => void;
}

/**
 * What Redis is to be told, and nobody waits for: said in the turn in which it happens, and again where the connection was
 * lost before the answer. A server that is slow hears it once.
 */
export interface Deliveries {
  deliver<R>(delivery: Delivery<R>): void;
  /** Settles when all is said, or after `limitMs`; what is not said by then is left to the leases. */
  drained(limitMs: number): Promise<void>;
}

export interface DeliveriesOptions {
  readonly connection: RedisConnection;
  readonly scheduler: SchedulerLike;
  /** What could not be said by then has been settled by its lease running out. */
  readonly giveUpMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

const firstRetryMs = 250;
const longestRetryMs = 5000;
/** Not all that was kept back is said in the instant in which the connection is there again. */
const spreadMs = 200;

export function createDeliveries({ connection, scheduler, giveUpMs, random }: DeliveriesOptions): Deliveries {
  const open = new Set<Subscription>();
  let onDrained: (() => void) | undefined;

  function nextTry(tries: number): Observable<unknown> {
    const again$ = connection.ready$.pipe(switchMap(() => timer(spreadMs * random(), scheduler)));
    const waitMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(tries, 10)) * (0.5 + random() / 2);
    return merge(again$, timer(waitMs, scheduler)).pipe(take(1));
  }

  return {
    deliver<R>({ script, keys, ask, onAnswer = () => undefined }: Delivery<R>): void {
      const endMs = scheduler.now() + giveUpMs;
      const said$ = defer(() => connection.run<R>({ script, keys, ask: ask() })).pipe(
        retry({
          delay: (error: unknown, tries) => (scheduler.now() < endMs ? nextTry(tries) : throwError(() => error)),
        }),
      );
      const subscription = said$.subscribe({ next: onAnswer, error: () => undefined });
      open.add(subscription);
      subscription.add(() => {
        open.delete(subscription);
        if (open.size === 0) onDrained?.();
      });
    },
    drained: (limitMs) =>
      new Promise((resolve) => {
        const limit = scheduler.schedule(() => { for (const delivery of open) delivery.unsubscribe(); }, limitMs);
        onDrained = () => {
          limit.unsubscribe();
          resolve();
        };
        if (open.size === 0) onDrained();
      }),
  };
}
