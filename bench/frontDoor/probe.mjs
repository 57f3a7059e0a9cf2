// Preloaded into each process of the bench: says what the process uses when it is asked over its IPC channel, and nothing else.
import { nowMs } from './clock.mjs';

process.on('message', ({ ask, gc }) => {
  if (ask !== 'usage') return;
  if (gc) for (let round = 0; round < 3; round += 1) globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send({ usage: { rss, heapUsed, external, cpuS: (user + system) / 1e6, resources: resources(), nowMs: nowMs() } });
});
// The channel must not keep a process alive that has been told to stop.
process.channel?.unref();

function resources() {
  const counts = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
