import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { median } from '../../support/statistics.mjs';
import { table } from '../../support/table.mjs';
import { scenes } from './scenes.mjs';
import { startRedis } from './startRedis.mjs';

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const backends = ['memory', 'roundTrips', 'redis'];
const callsAt = { 1: 1000, 16: 4000, 64: 4000 };

/** Operations of a call in each scene, and what they add to it. */
export async function measureRedis({ rounds, quick }) {
  const server = await startRedis();
  const operations = {};
  for (const name of Object.keys(scenes)) operations[name] = await measureIn(script('operations.mjs'), [name, quick ? 20 : 200, server.url]);
  const latency = [];
  for (let round = 0; round < rounds; round += 1) latency.push(await measureRound(server, quick ? 0.1 : 1));
  server.stop();
  return { raw: { operations, latency }, markdown: [operationsTable(operations), latencyTable(latency)].join('\n\n') };
}

async function measureRound(server, share) {
  const measured = {};
  for (const [atOnce, calls] of Object.entries(callsAt)) {
    measured[atOnce] = {};
    for (const backend of backends) measured[atOnce][backend] = await measureIn(script('latency.mjs'), [backend, atOnce, calls * share, server.url, server.pid]);
  }
  return measured;
}

function operationsTable(operations) {
  const names = [...new Set(Object.values(operations).flatMap(({ scripts }) => Object.keys(scripts)))];
  const rows = Object.entries(operations).map(([scene, { scripts, commands, bytesIn, bytesOut }]) => [scene, sum(scripts), ...names.map((name) => scripts[name] ?? 0), sum(commands), bytesIn, bytesOut]);
  return table(['scene, per call', 'operations', ...names, 'commands within', 'bytes to Redis', 'bytes from Redis'], rows);
}

const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0);

/** What is added is the median of the differences within a round. */
function latencyTable(rounds) {
  const rows = Object.keys(callsAt).flatMap((atOnce) =>
    backends.map((backend) => {
      const of = (name) => median(rounds.map((round) => round[atOnce][backend][name]));
      const added = (name) => median(rounds.map((round) => round[atOnce][backend][name] - round[atOnce].memory[name]));
      const ratio = (name) => median(rounds.map((round) => round[atOnce][backend][name] / round[atOnce].memory[name]));
      return [`${backend}, ${atOnce} at once`, of('p50Ms'), of('p99Ms'), added('p50Ms'), added('p99Ms'), of('perS'), ratio('perS'), of('cpuUs'), ratio('cpuUs'), of('redisUs'), of('undecided')];
    }),
  );
  return table(['backend', 'p50 ms', 'p99 ms', 'added p50 ms', 'added p99 ms', 'calls/s', 'of memory', 'CPU µs a call', 'of memory', 'CPU µs of Redis', 'calls without a decision'], rows);
}
