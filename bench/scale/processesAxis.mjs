import { fileURLToPath } from 'node:url';
import { startService } from '../support/child.mjs';
import { cpuUs } from '../support/processFigures.mjs';
import { quantile } from '../support/statistics.mjs';
import { estimateFleet } from './estimateFleet.mjs';
import { startRedis } from './startRedis.mjs';
import { startWorkers } from './startWorkers.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const boundTo = 16;
const atOnce = 8;
const callsPerS = 30;

/** What each process does. Without a rate it asks as fast as it can, `atOnce` calls at a time. */
const loads = {
  'memory, 30 calls/s each': { callsPerS },
  'Redis, 30 calls/s each': { shared: true, callsPerS },
  'Redis, flat out': { shared: true, atOnce },
  'Redis, flat out, 16 places': { shared: true, atOnce: 2 * boundTo, maxConcurrency: boundTo },
};

export const processesAxis = {
  title: 'Processes that share one Redis',
  notes: 'replies of 20 deltas after 20 ms; limits are counted and do not bind, but for the last contestant, where all processes share 16 places at the source and ask for 32 each',
  step: 'processes', steps: [1, 2, 4, 8], quickSteps: [1, 2], contestants: Object.keys(loads),
  figures: {
    'CPU µs/call': 'callUs', 'calls/s': 'callsPerS', 'p50 ms': 'p50Ms', 'p99 ms': 'p99Ms', 'Redis commands/call': 'commandsPerCall', 'Redis µs/call': 'redisUsPerCall',
    'Redis core busy': 'redisBusy', 'Redis MB': 'redisMb', 'Redis connections': 'connections', 'most at once at the source': 'mostAtOnce',
  },
  plots: [{ quantity: 'callsPerS', y: 'calls per second in all' }, { quantity: 'p99Ms', y: 'call p99, ms', logY: true }, { quantity: 'redisUsPerCall', y: 'Redis CPU µs per call' }],
  conclusion: (seen) => estimateFleet({ ...seen, contestant: 'Redis, flat out' }),
  async open({ quick }) {
    const [upstream, redis] = await Promise.all([startService(here('countingUpstream.mjs')), startRedis()]);
    return {
      measure: ({ step, contestant }) => measure({ upstream, redis, processes: step, load: loads[contestant], forMs: quick ? 1000 : 6000 }),
      close() {
        upstream.stop();
        redis.stop();
      },
    };
  },
};

async function measure({ upstream, redis, processes, load, forMs }) {
  await redis.empty();
  const workers = await startWorkers(processes, { ...load, baseUrl: `http://127.0.0.1:${upstream.port}/v1`, backendUrl: load.shared ? redis.url : undefined, forMs });
  await fetch(`http://127.0.0.1:${upstream.port}/reset`);
  const before = { ...(await redis.figures()), us: cpuUs(redis.pid), atMs: performance.now() };
  const done = await workers.run();
  const seconds = (performance.now() - before.atMs) / 1000;
  const us = cpuUs(redis.pid) - before.us;
  const after = await redis.figures();
  workers.stop();
  const { mostAtOnce, requests } = await (await fetch(`http://127.0.0.1:${upstream.port}/seen`)).json();
  const tookMs = done.flatMap((one) => one.tookMs);
  const calls = tookMs.length;
  if (requests !== calls) throw new Error(`The source saw ${requests} requests, and there were ${calls} calls.`);
  if (load.maxConcurrency !== undefined && mostAtOnce > load.maxConcurrency) throw new Error(`The source saw ${mostAtOnce} requests at once, and ${load.maxConcurrency} are allowed to all processes together.`);
  return {
    callUs: done.reduce((sum, one) => sum + one.cpuUs, 0) / calls, callsPerS: calls / seconds, p50Ms: quantile(tookMs, 0.5), p99Ms: quantile(tookMs, 0.99),
    mostAtOnce, ...(load.shared && { commandsPerCall: (after.commands - before.commands) / calls, redisUsPerCall: us / calls, redisBusy: us / 1e6 / seconds, redisMb: after.mb, connections: after.connections }),
  };
}
