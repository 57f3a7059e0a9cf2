import { performance } from 'node:perf_hooks';
import type { Timeline, TimelineStep } from './timeline.js';

interface PlayOptions {
  timeline: Timeline;
  /** On the clock of `performance.now()`. */
  arrivedMs: number;
  act: (step: TimelineStep) => void;
}

/**
 * Acts each step when its time has come, never earlier. Every delay is counted from the arrival, so that lateness does
 * not add up. Returns what stops it.
 */
export function playTimeline({ timeline, arrivedMs, act }: PlayOptions): () => void {
  let next = 0;
  let timer: NodeJS.Timeout | undefined;

  const turn = (): void => {
    for (let step = timeline[next]; step !== undefined; step = timeline[next]) {
      const leftMs = step.atMs - (performance.now() - arrivedMs);
      if (leftMs > 0) {
        timer = setTimeout(turn, Math.ceil(leftMs));
        return;
      }
      next += 1;
      act(step);
    }
  };
  turn();
  return () => {
    next = timeline.length;
    clearTimeout(timer);
  };
}
