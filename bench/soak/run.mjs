// One process that uses the product for long, under faults, aborts, reloads and outages, and whether all it held comes back.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, watchOthers } from '../support/machine.mjs';
import { parseOptions } from '../support/options.mjs';
import { importBuilt } from '../support/places.mjs';
import { account } from './account.mjs';
import { startChild } from './child.mjs';
import { keysForgotten, live, settled } from './life.mjs';
import { startRedis } from './redisServer.mjs';
import { report } from './report.mjs';

const options = parseOptions(
  { minutes: 30, quick: false, seed: 1, callers: 24, snapshots: undefined, json: undefined },
  { about: 'Long use of one process: does all that it holds come back? --quick: some 20 s, without a judgement of the heap. --snapshots: a folder for heap snapshots before and after.' },
);
const { mulberry32 } = await importBuilt('lab/mulberry32.js');
const { warmUp, plan } = options.quick
  ? { warmUp: { periods: 0, minutes: 0, lastS: 1.5 }, plan: { periods: 1, minutes: 0, periodS: 2.5, sampleS: 0.25, collects: false, lastS: 0.5 } }
  : { warmUp: { periods: 2, minutes: options.minutes / 10, periodS: 20, sampleS: 5, collects: true, lastS: 1 }, plan: { periods: 2, minutes: options.minutes, periodS: 50, sampleS: 5, collects: true, lastS: 1 } };
/** A request counts for 61 s in the windows of a source, and their keys live a second longer. */
const windowsS = options.quick ? 0 : 70;
const folder = mkdtempSync(join(tmpdir(), 'polygateway-soak-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const databaseFile = join(folder, 'telemetry.db');
const findings = [];
const rowsAlone = [];
const others = watchOthers();
const [redis, upstream] = await Promise.all([startRedis(), startChild(here('upstream/upstream.mjs'), [options.seed])]);
const application = await startChild(here('application/application.mjs'), [JSON.stringify({ seed: options.seed, callers: options.callers, ports: upstream.ports, redisUrl: redis.url, databaseFile })], {
  execArgv: ['--expose-gc'],
  onMessage: ({ finding, rows = [] }) => (finding === undefined ? rowsAlone.push(...rows) : findings.push(finding)),
  onEnd: (why) => { if (!stopping) fail(why); },
});
let stopping = false;
const { sockets: ownSockets } = await application.ask('sample', { collects: false });
const world = { application, redis, random: mulberry32(options.seed), findings, ownSockets };

await live(world, warmUp);
const before = await settled(application);
await snapshot('before');
const life = await live(world, plan);
const after = await settled(application, before);
await snapshot('after');
const keysLeft = await keysForgotten(redis, windowsS);

const { calls, outcomes, events } = await application.ask('counts');
const { calls: seen, fates } = await upstream.ask('seen');
stopping = true;
await Promise.all([application.stop(), upstream.stop(), redis.stop()]);
const told = { ...life, before, after, keysLeft, calls, outcomes, events, fates, findings, rows: account({ seen, databaseFile, rowsAlone }) };
const isBack = report(told, { isLong: !options.quick });
console.log(`\n${describe(['rxjs', 'undici', 'ioredis', 'better-sqlite3'])}\n- seed ${options.seed}, ${options.callers} callers; other programs used ${others.stop().toFixed(2)} cores`);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(told));
process.exit(isBack ? 0 : 1);

async function snapshot(name) {
  if (options.snapshots !== undefined) await application.ask('snapshot', resolve(options.snapshots, `${name}.heapsnapshot`));
}

function here(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

function fail(why) {
  console.error(`The run ended too soon: ${why}`);
  process.exit(1);
}
