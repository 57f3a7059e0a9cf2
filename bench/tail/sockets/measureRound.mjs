import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { watchOthers } from '../../support/machine.mjs';

const script = fileURLToPath(new URL('contestant.mjs', import.meta.url));
const flags = ['--no-warnings'];
let runs = 0;

/**
 * One round: each contestant once, alone, on the same calls and arrivals; `first` says who begins, so that in the next round it is
 * another. Answers `{ name, outcomes, cpuUsPerCall, …, counters, othersCores }` for each.
 */
export async function measureRound({ upstream, contestants, first, seed, calls, callsPerS, outage }) {
  const names = Object.keys(contestants);
  const results = [];
  for (const name of [...names.slice(first % names.length), ...names.slice(0, first % names.length)]) {
    const url = `http://127.0.0.1:${upstream.port}/runs/${(runs += 1)}`;
    await call(url, { method: 'PUT', body: JSON.stringify({ seed, calls, outage }) });
    const others = watchOthers();
    const measured = await measureIn(script, [JSON.stringify({ url, contestant: contestants[name], seed, calls, callsPerS })], { flags, timeoutMs: 240_000 });
    results.push({ name, ...measured, othersCores: others.stop(), counters: await call(url) });
    process.stderr.write(`${name}: ${(measured.wallMs / 1000).toFixed(1)} s\n`);
  }
  return { seed, calls, results };
}

async function call(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`The upstream answered ${response.status} to ${options?.method ?? 'GET'} ${url}.`);
  return response.json();
}
