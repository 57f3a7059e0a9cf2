// What is said to Redis for a call:   node operations.mjs SCENE CALLS REDIS_URL
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { importBuilt } from '../../support/places.mjs';
import { makeCalls, openGateway } from './openGateway.mjs';
import { scenes } from './scenes.mjs';

const { Redis } = createRequire(import.meta.url)('ioredis');
const texts = await importBuilt('governance/redis/scripts.js');
const nameOf = new Map(Object.entries(texts).map(([name, text]) => [createHash('sha1').update(text).digest('hex'), name.replace(/Script$/, '')]));
const [sceneName, callsText, url] = process.argv.slice(2);
const calls = Number(callsText);
const scene = scenes[sceneName];
const untilSettledMs = 100;

const look = new Redis(url);
const opened = await openGateway(scene, url);
// Connects, and makes the scripts known.
await makeCalls(opened, scene, scene.atOnce * 2);
await sleep(untilSettledMs);

// Once for what goes over the wire and once more for which scripts they are, since to listen in is traffic too.
await look.config('RESETSTAT');
const before = await netOf();
await makeCalls(opened, scene, calls);
await sleep(untilSettledMs);
const after = await netOf();
const commands = await commandsRun();

const said = {};
const monitor = await look.duplicate().monitor();
// What a script itself says comes from `lua`.
monitor.on('monitor', (_time, [command, sha], from) => {
  if (from === 'lua' || !/^evalsha$/i.test(command)) return;
  const name = nameOf.get(sha) ?? 'unknown';
  said[name] = (said[name] ?? 0) + 1;
});
await makeCalls(opened, scene, calls);
await sleep(untilSettledMs);
monitor.disconnect();
look.disconnect();
await opened.close();

const perCall = (counts) => Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / calls]));
console.log(JSON.stringify({ scripts: perCall(said), commands: perCall(commands), bytesIn: (after.in - before.in) / calls, bytesOut: (after.out - before.out) / calls }));
process.exit();

async function netOf() {
  const stats = await look.info('stats');
  const figure = (name) => Number(new RegExp(`total_net_${name}_bytes:(\\d+)`).exec(stats)[1]);
  return { in: figure('input'), out: figure('output') };
}

/** By the scripts, inside the server. */
async function commandsRun() {
  const own = /^(eval|evalsha|info|config|monitor|ping|client|hello|select|script)/;
  const stats = await look.info('commandstats');
  return Object.fromEntries([...stats.matchAll(/^cmdstat_([\w|]+):calls=(\d+)/gm)].filter(([, name]) => !own.test(name)).map(([, name, count]) => [name, Number(count)]));
}
