// What a call takes:   node latency.mjs BACKEND AT_ONCE CALLS REDIS_URL
// `memory`; `redis`; `roundTrips`: in memory, and beside it the least that a decision elsewhere can cost: one PING that is waited for and one that is not.
import { createRequire } from 'node:module';
import { cpuUs } from '../../support/processFigures.mjs';
import { quantile } from '../../support/statistics.mjs';
import { makeCalls, openGateway } from './openGateway.mjs';
import { scenes } from './scenes.mjs';

const { Redis } = createRequire(import.meta.url)('ioredis');
const [backend, atOnceText, callsText, url, redisPid] = process.argv.slice(2);
const calls = Number(callsText);
const scene = { ...scenes.plain, atOnce: Number(atOnceText) };
const ioredis = backend === 'roundTrips' ? new Redis(url) : undefined;
const beside = ioredis && { before: () => ioredis.ping(), after: () => void ioredis.ping() };

const opened = await openGateway(scene, backend === 'redis' ? url : 'memory');
await makeCalls(opened, scene, Math.max(200, calls / 4), beside);

const before = { cpuUs: cpuUs(), redisUs: cpuUs(redisPid), atMs: performance.now() };
const { tookMs, undecided } = await makeCalls(opened, scene, calls, beside);
const used = { cpuUs: (cpuUs() - before.cpuUs) / calls, redisUs: (cpuUs(redisPid) - before.redisUs) / calls };
const perS = (1000 * calls) / (performance.now() - before.atMs);
await opened.close();
console.log(JSON.stringify({ p50Ms: quantile(tookMs, 0.5), p99Ms: quantile(tookMs, 0.99), perS, undecided, ...used }));
process.exit();
