// What the front door adds to each delta of many streaming clients, and whether anything of them stays behind. Over the built
// package; an upstream, `polygateway serve` and the clients are a process each. See ../README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clockApart, coresBetween, processorTimes, start, stop, told } from './children.mjs';
import { figuresOf } from './latencies.mjs';
import { print } from './print.mjs';
import { startServe } from './serve.mjs';

const { values: given } = parseArgs({
  options: {
    clients: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '10' },
    'warm-up-s': { type: 'string', default: '30' },
    /** Streams last from 1 s to this. */
    'longest-s': { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    'only-through': { type: 'boolean', default: false },
    /** For the Node of serve, between blanks, such as --cpu-prof. */
    flags: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
/** Clients come one after the other over most of the warm-up, which is not measured. */
const load = {
  clients: Number(given.clients),
  seconds: Number(given.seconds),
  warmUpS: Number(given['warm-up-s']),
  rate: Number(given.rate),
  longestS: Number(given['longest-s']),
  windowS: 5,
  seed: Number(given.seed),
};
/** What other programs may use of the machine in a window that shall count as quiet. */
const quietCores = 0.3;
const folder = mkdtempSync(join(tmpdir(), 'polygateway-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const straight = given['only-through'] ? undefined : await measure();
const through = await measure({ throughServe: true });
const clean = isClean(through);
if (given.json) console.log(JSON.stringify({ load, straight, through, clean }));
else print({ load, straight, through, clean });
process.exit(clean ? 0 : 1);

/** One load, straight at the upstream or through serve. */
async function measure({ throughServe = false } = {}) {
  const upstream = start(here('upstream.mjs'), [String(load.rate)]);
  const upstreamPort = await told(upstream, 'port');
  const serve = throughServe ? await startServe({ upstreamPort, folder, flags: given.flags.split(' ').filter(Boolean) }) : undefined;
  const before = await serve?.now();
  const clients = start(here('clients.mjs'), [JSON.stringify({ ...load, port: serve?.port ?? upstreamPort })]);
  const processes = { upstream, clients, ...(serve === undefined ? {} : { serve: serve.child }) };
  const clocks = { upstream: await clockApart(upstream), clients: await clockApart(clients) };

  const windows = [];
  await told(clients, 'window');
  let last = await processorTimes(processes);
  for (let left = load.seconds; left > 0; left -= load.windowS) {
    const { counts, ...taken } = await told(clients, 'window');
    const now = await processorTimes(processes);
    windows.push({ ...taken, counts, tookS: (now.atMs - last.atMs) / 1000, cores: coresBetween(last, now), ...(await serve?.sample()) });
    last = now;
  }
  // All clients leave at once, which is the hardest end there is.
  await stop(clients, 'SIGKILL');
  const after = await serve?.atRest(before);
  upstream.send({ ask: 'seen' });
  const atUpstream = await told(upstream, 'seen');
  await serve?.stop();
  await stop(upstream, 'SIGKILL');
  const { counts } = windows.at(-1);
  return { windows, all: figuresOfWindows(windows), quiet: figuresOfWindows(windows.filter(isQuiet)), counts, clocks, before, after, upstream: atUpstream, rows: serve?.rows() };
}

function here(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

function isQuiet({ cores: { others, stolen } }) {
  return others + stolen < quietCores;
}

function figuresOfWindows(windows) {
  return {
    windows: windows.length,
    latencies: figuresOf(windows.map(({ latencies }) => latencies)),
    lateness: figuresOf(windows.map(({ lateness }) => lateness)),
  };
}

function isClean({ before, after, counts: { wrongCount }, upstream, rows }) {
  const sent = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const isIdle = [after.calls, after.attempts, after.waiting, after.permits].every((value) => value === 0);
  return wrongCount === 0 && isIdle && after.sockets <= before.sockets && sent === upstream.requests;
}
