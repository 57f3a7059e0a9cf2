import { sleep } from './clock.mjs';

/** Calls `openOne` so often, at no more than that rate; answers what it answered. */
export async function openAll(count, perS, openOne) {
  const startedMs = performance.now();
  const opened = [];
  while (opened.length < count) {
    opened.push(openOne(opened.length));
    while (opened.length > ((performance.now() - startedMs) * perS) / 1000) await sleep(2);
  }
  return opened;
}
