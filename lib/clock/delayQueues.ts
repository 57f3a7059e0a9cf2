/** All entries of one delay, oldest first. */
interface Queue<E> {
  head: E | undefined;
  tail: E | undefined;
}

/** What waits in a queue; it carries the links of the list, so that leaving costs the same from any place. */
export interface Waiting<E> {
  dueMs: number;
  queue: Queue<E> | undefined;
  previous: E | undefined;
  next: E | undefined;
}

/** Entries by delay: within one delay the order of arrival is the order of due times, so nothing has to be sorted in (T6). */
export interface DelayQueues<E> {
  /** True if it is the first of its delay, so that it may be the next one due. */
  add(this: void, entry: E, delayMs: number): boolean;
  /** False if it was not waiting. */
  delete(this: void, entry: E): boolean;
  /** All that are due, earliest first; they stay where they are. */
  due(this: void, nowMs: number): E[];
  /** `Infinity` when nothing waits. */
  nextDueMs(this: void): number;
  isEmpty(this: void): boolean;
}

export function createDelayQueues<E extends Waiting<E>>(): DelayQueues<E> {
  const queues = new Map<number, Queue<E>>();
  let waiting = 0;

  const queueOf = (delayMs: number): Queue<E> => {
    const queue = queues.get(delayMs) ?? { head: undefined, tail: undefined };
    if (!queue.head) queues.set(delayMs, queue);
    return queue;
  };

  return {
    add: (entry, delayMs) => {
      const queue = queueOf(delayMs);
      append(queue, entry);
      waiting += 1;
      return queue.head === entry;
    },
    delete: (entry) => {
      if (!entry.queue) return false;
      detach(entry.queue, entry);
      waiting -= 1;
      return true;
    },
    due: (nowMs) => [...queues.values()].flatMap((queue) => dueOf(queue, nowMs)).sort((a, b) => a.dueMs - b.dueMs),
    nextDueMs: () => {
      let nextMs = Infinity;
      for (const [delayMs, { head }] of queues) {
        // Only here: a lone stream empties and fills its queue with every mark.
        if (head) nextMs = Math.min(nextMs, head.dueMs);
        else queues.delete(delayMs);
      }
      return nextMs;
    },
    isEmpty: () => waiting === 0,
  };
}

function append<E extends Waiting<E>>(queue: Queue<E>, entry: E): void {
  entry.queue = queue;
  entry.previous = queue.tail;
  if (queue.tail) queue.tail.next = entry;
  else queue.head = entry;
  queue.tail = entry;
}

function detach<E extends Waiting<E>>(queue: Queue<E>, entry: E): void {
  const { previous, next } = entry;
  if (previous) previous.next = next;
  else queue.head = next;
  if (next) next.previous = previous;
  else queue.tail = previous;
  entry.queue = entry.previous = entry.next = undefined;
}

function dueOf<E extends Waiting<E>>(queue: Queue<E>, nowMs: number): E[] {
  const due: E[] = [];
  for (let entry = queue.head; entry && entry.dueMs <= nowMs; entry = entry.next) due.push(entry);
  return due;
}
