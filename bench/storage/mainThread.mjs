import { readFileSync } from 'node:fs';

/** Processor time of the main thread so far, without workers, the collector's helpers and the thread pool. Exact to a few ms. */
export function mainThreadUs() {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

/** Turns the event loop over and over, calling `onTurn`, and tells how long it stood still at the longest. It fills a core. */
export function startHeartbeat(onTurn = () => undefined) {
  let beforeMs = performance.now();
  let longestMs = 0;
  let isOn = true;
  const beat = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - beforeMs);
    beforeMs = nowMs;
    onTurn(nowMs);
    if (isOn) setImmediate(beat);
  };
  setImmediate(beat);
  return {
    stop() {
      isOn = false;
      return longestMs;
    },
  };
}
