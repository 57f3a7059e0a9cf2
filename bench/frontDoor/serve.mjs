import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { socketsOf, start, stop, usageOf } from './children.mjs';

const dist = process.env.POLYGATEWAY_DIST === undefined ? new URL('../../dist/', import.meta.url) : pathToFileURL(`${process.env.POLYGATEWAY_DIST}/`);

/** `polygateway serve` over one source, with its rows in a file of this folder; `LLM__` variables of the environment count too. */
export async function startServe({ upstreamPort, folder, flags }) {
  const file = `${folder}/telemetry.db`;
  const env = {
    PATH: process.env.PATH,
    LLM__BENCH__1__BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
    LLM__BENCH__1__MODEL: 'bench',
    // Does not bind, but is counted.
    LLM__BENCH__1__MAX_CONCURRENCY: '100000',
    LLM__TELEMETRY__URL: `sqlite:${file}`,
    ...Object.fromEntries(Object.entries(process.env).filter(([key]) => key.startsWith('LLM__'))),
  };
  const child = start(fileURLToPath(new URL('cli/main.js', dist)), ['serve', '--port', '0', '--quiet'], { env, execArgv: flags });
  const [line] = await once(child.stdout, 'data');
  child.stdout.resume();
  const [, url] = /^listening on (\S+)/.exec(String(line));
  // The first requests load what the first requests need.
  for (let round = 0; round < 20; round += 1) await askOnce(url);

  const metrics = async () => readMetrics(await (await fetch(`${url}/metrics`)).text());
  const look = async (options) => ({ ...(await usageOf(child, options)), sockets: socketsOf(child), ...inFlight(await metrics()) });

  return {
    child,
    port: Number(new URL(url).port),
    now: () => look({ gc: true }),
    /**
     * Once no more than these sockets were open for five looks, or after two minutes. Kept connections to the upstream end by themselves
     * after some seconds; clients that left before they were accepted are still accepted, one by one, and each has asked for something.
     */
    async atRest({ sockets }) {
      let still = 0;
      for (let second = 0; second < 120 && still < 5; second += 1) {
        await sleep(1000);
        const { sockets: open, calls } = await look();
        still = open <= sockets && calls === 0 ? still + 1 : 0;
      }
      return look({ gc: true });
    },
    async sample() {
      const { rss, heapUsed } = await usageOf(child);
      const seen = await metrics();
      const [p50, p99, max] = ['0.5', '0.99', '1'].map((share) => 1000 * seen[`polygateway_event_loop_delay_seconds{quantile="${share}"}`]);
      return { rss, heapUsed, sockets: socketsOf(child), calls: inFlight(seen).calls, loopDelayMs: { p50, p99, max } };
    },
    stop: () => stop(child, 'SIGTERM'),
    rows() {
      const database = new Database(file, { readonly: true });
      const rows = database.prepare('SELECT outcome, count(*) AS count FROM llm_attempts GROUP BY outcome').all();
      database.close();
      return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
    },
  };
}

async function askOnce(url) {
  const body = JSON.stringify({ model: 'any', max_tokens: 1, stream: true, messages: [{ role: 'user', content: 'hello' }] });
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const text = await response.text();
  if (!text.includes('[DONE]')) throw new Error(`serve answered ${response.status} ${text}`);
}

function readMetrics(text) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

function inFlight(metrics) {
  const sumOf = (name) => Object.entries(metrics).reduce((sum, [series, value]) => (series.startsWith(`${name}{`) ? sum + value : sum), 0);
  return {
    calls: sumOf('polygateway_calls_in_flight'),
    attempts: sumOf('polygateway_attempts_in_flight'),
    waiting: sumOf('polygateway_calls_waiting'),
    permits: sumOf('polygateway_permits_in_use'),
  };
}
