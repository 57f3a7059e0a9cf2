// What it costs to keep admission in Redis: operations, time added and calls a second against the backend in memory.
// Over the built package; starts a redis-server of its own; the source answers in process and at once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { pathToFileURL } from 'node:url';

const { Redis } = createRequire(import.meta.url)('ioredis');
const dist = process.env.POLYGATEWAY_DIST === undefined ? new URL('../../dist/', import.meta.url) : pathToFileURL(`${process.env.POLYGATEWAY_DIST}/`);
const built = (path) => import(new URL(path, dist));
const [{ createGateway }, { scriptedSource }, { monotonicScheduler }] = await Promise.all([built('index.js'), built('sources/scriptedSource.js'), built('clock/monotonicScheduler.js')]);

const rounds = 5;
const counts = { 1: 300, 64: 2000 };

const port = await freePort();
const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => server.kill('SIGKILL'));
for await (const text of server.stdout) if (/ready to accept/i.test(text)) break;
server.stdout.resume();
const look = new Redis(port, '127.0.0.1');

const gateways = { memory: open(), redis: open(`redis://127.0.0.1:${port}`) };
for (const gateway of Object.values(gateways)) await measure(gateway, 16, 500);

await look.config('RESETSTAT');
await measure(gateways.redis, 1, 200);
console.log(`Redis operations per call: ${((await scriptsRun()) / 200).toFixed(2)}`);

for (const concurrency of [1, 64]) {
  const taken = { memory: [], redis: [] };
  // In turn, so that what else the machine does meets both.
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, gateway] of Object.entries(gateways)) taken[name].push(await measure(gateway, concurrency, counts[concurrency]));
  }
  const figure = (name, of) => median(taken[name].map((round) => round[of]));
  const added = (of) => (figure('redis', of) - figure('memory', of)).toFixed(2);
  const ratio = figure('redis', 'perSecond') / figure('memory', 'perSecond');
  console.log(`${concurrency} at once: added p50 ${added('p50')} ms, p99 ${added('p99')} ms; calls/s ${rates(figure)} (ratio ${ratio.toFixed(2)})`);
}

await Promise.all(Object.values(gateways).map((gateway) => gateway.close()));
look.disconnect();
process.exit();

function rates(figure) {
  return `memory ${Math.round(figure('memory', 'perSecond'))}, redis ${Math.round(figure('redis', 'perSecond'))}`;
}

function open(backendUrl) {
  const delta = (value) => ({ atMs: 0, type: 'delta', delta: value });
  const scripts = [[delta({ type: 'content', text: 'ok' }), delta({ type: 'finish', reason: 'stop' }), { atMs: 0, type: 'end' }]];
  const source = scriptedSource({ id: 'a/1', scripts, scheduler: monotonicScheduler });
  // None of them binds, but all are counted.
  const limits = { maxConcurrency: 1000, rpm: 1e7, tpm: 1e10 };
  const limited = { ...source, ...limits, stream: (...args) => { source.requests.length = 0; return source.stream(...args); } };
  return createGateway({ settings: { scope: 'LLM', sources: [], ...(backendUrl && { backendUrl }) }, sources: [limited] });
}

/** So many calls, as many at once. */
async function measure(gateway, concurrency, calls) {
  const tookMs = [];
  const startMs = performance.now();
  let left = calls;
  const caller = async () => {
    while (left-- > 0) {
      const callMs = performance.now();
      await gateway.chat({ messages: [{ role: 'user', content: 'hello' }] });
      tookMs.push(performance.now() - callMs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  tookMs.sort((a, b) => a - b);
  const quantile = (share) => tookMs[Math.floor(share * (tookMs.length - 1))];
  return { p50: quantile(0.5), p99: quantile(0.99), perSecond: (1000 * calls) / (performance.now() - startMs) };
}

async function scriptsRun() {
  const stats = await look.info('commandstats');
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

function median(figures) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)];
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address();
  probe.close();
  await once(probe, 'close');
  return free;
}
