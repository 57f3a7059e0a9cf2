import type { TestScheduler } from 'rxjs/testing';
import { showTime } from './difference/showTime.js';

/**
 * Ends a run that would go on for ever, which no test runner could: it never comes to its own timer. A scheduler sets its `frame` once for
 * each action, so that is where they can be counted.
 */
export function refuseEndless(testScheduler: TestScheduler, maxActions: number): void {
  let frame = testScheduler.frame;
  let actions = 0;
  Object.defineProperty(testScheduler, 'frame', {
    get: () => frame,
    set: (next: number) => {
      frame = next;
      actions += 1;
      if (actions > maxActions) throw new Error(`Virtual time does not end: after ${maxActions} timers it is ${showTime(frame)}, and there are more. Something repeats for ever: let it end, unsubscribe from it (the second argument of expectObservable), or allow more with marbles(body, { maxActions }).`);
    },
  });
}
