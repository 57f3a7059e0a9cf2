import { TestScheduler } from 'rxjs/testing';

/**
 * A `TestScheduler` for thousands of open timers. RxJS appends each new one and sorts all of them again; here the new one is put where
 * that sort would have put it, which is the same order without the sorting.
 */
export function openScheduler() {
  const scheduler = new TestScheduler(() => undefined);
  scheduler.actions = new SortedActions();
  return scheduler;
}

class SortedActions extends Array {
  static get [Symbol.species]() { return Array; }

  /** All but the last are in order already. */
  sort(compare) {
    const added = this.pop();
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this[middle], added) <= 0) low = middle + 1;
      else high = middle;
    }
    this.splice(low, 0, added);
    return this;
  }
}
