import { config, Subscription } from 'rxjs';
import type { SchedulerAction, SchedulerLike } from 'rxjs';
import { createAlarm } from './alarm.js';
import { createDelayQueues } from './delayQueues.js';
import type { Waiting } from './delayQueues.js';

const maxDelayMs = 2 ** 31;

/** The scheduler's side of an action. */
interface Desk {
  enqueue(this: void, action: Action, delayMs: number): void;
  dequeue(this: void, action: Action): void;
}

/** A class because RxJS wants an action to be a Subscription: one object, no closure, for what is made once per mark. */
class ScheduledAction<T> extends Subscription implements SchedulerAction<T>, Waiting<Action> {
  dueMs = 0;
  queue: Waiting<Action>['queue'];
  previous: Action | undefined;
  next: Action | undefined;
  #state: T | undefined;
  #work: ((this: SchedulerAction<T>, state: T) => void) | undefined;
  readonly #desk: Desk;

  constructor(desk: Desk, work: (this: SchedulerAction<T>, state: T) => void) {
    super();
    this.#desk = desk;
    this.#work = work;
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this;
    this.#state = state;
    this.#desk.enqueue(this as Action, wholeDelayMs(delay));
    return this;
  }

  run(): void {
    try {
      this.#work?.(this.#state as T);
    } catch (error) {
      this.unsubscribe();
      reportLater(error);
    }
  }

  override unsubscribe(): void {
    if (this.closed) return;
    this.#desk.dequeue(this as Action);
    this.#work = this.#state = undefined;
    super.unsubscribe();
  }
}

type Action = ScheduledAction<unknown>;

/**
 * RxJS's scheduler on a monotonic clock: `now()` is `performance.now()`, float milliseconds (T1).
 *
 * Work that is due runs one poll phase later, and where the loop was blocked for more than 50 ms not before it has run
 * freely for another 50 ms, so that what waits in a socket comes first (T3). All that is due runs in one pass, earliest first.
 * One real timer serves all delays and is gone when nothing waits.
 *
 * Delays count in whole milliseconds, rounded up; a negative one is 0. Throws `RangeError` for one that is not finite or
 * not below 2^31 ms (T5). Work that throws does not stop other work: its error goes to RxJS's `config.onUnhandledError`.
 */
export function createMonotonicScheduler(): SchedulerLike {
  const queues = createDelayQueues<Action>();

  const alarm = createAlarm((nowMs) => {
    for (const action of queues.due(nowMs)) {
      // An earlier one of the same pass may have unsubscribed or re-scheduled it.
      if (action.dueMs <= nowMs && queues.delete(action)) action.run();
    }
    return queues.nextDueMs();
  });

  const desk: Desk = {
    enqueue: (action, delayMs) => {
      const nowMs = performance.now();
      queues.delete(action);
      action.dueMs = nowMs + delayMs;
      if (queues.add(action, delayMs)) alarm.set(action.dueMs, nowMs);
    },
    dequeue: (action) => {
      if (queues.delete(action) && queues.isEmpty()) alarm.clear();
    },
  };

  return {
    now: () => performance.now(),
    schedule: <T>(work: (this: SchedulerAction<T>, state: T) => void, delay?: number, state?: T) =>
      new ScheduledAction(desk, work).schedule(state, delay),
  };
}

/** Shared by all gateways of the process, so that they share its one timer as well. */
export const monotonicScheduler: SchedulerLike = createMonotonicScheduler();

function wholeDelayMs(delay: number): number {
  const delayMs = Math.max(0, Math.ceil(delay));
  if (Number.isFinite(delay) && delayMs < maxDelayMs) return delayMs;
  throw new RangeError(`delay must be a finite number of milliseconds below 2^31, got ${delay}`);
}

function reportLater(error: unknown): void {
  setImmediate(() => {
    if (!config.onUnhandledError) throw error;
    config.onUnhandledError(error);
  });
}
