import { defer, merge, retry, take, throwError, timer } from 'rxjs';
import type { SchedulerLike, Subscription } from 'rxjs';
import type { RedisConnection, ScriptName } from './connection.js';

export interface Delivery<R> {
  readonly script: ScriptName;
  readonly keys: readonly string[];
  /** Asked anew for each try. */
  readonly ask: () => Readonly<Record<string, unknown>>;
  readonly onAnswer?: (answer: R) => void;
}

/** What Redis is to be told, and nobody waits for: said in the turn in which it happens, and again until it is heard. */
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
}

const nextTryMs = 500;

export function createDeliveries({ connection, scheduler, giveUpMs }: DeliveriesOptions): Deliveries {
  const open = new Set<Subscription>();
  let onDrained: (() => void) | undefined;

  return {
    deliver<R>({ script, keys, ask, onAnswer = () => undefined }: Delivery<R>): void {
      const endMs = scheduler.now() + giveUpMs;
      const said$ = defer(() => connection.run<R>(script, keys, ask())).pipe(
        retry({
          delay: (error: unknown) => (scheduler.now() < endMs ? merge(connection.ready$, timer(nextTryMs, scheduler)).pipe(take(1)) : throwError(() => error)),
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
