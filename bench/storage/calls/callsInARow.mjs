// What a stored call costs the main thread with the whole engine around it:
//   node callsInARow.mjs CALLS FILE
// Gateways without telemetry, with a sink that stores nothing, and with SQLite take turns in one process, since the difference between them
// is a hundredth of a call; `again` is without telemetry too, and tells what can be told apart. Each turn waits until its rows are written.
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../support/statistics.mjs';
import { mainThreadUs } from '../mainThread.mjs';
import { callInARow, openGateway } from './gateways.mjs';

const [callsText, file] = process.argv.slice(2);
const callsInATurn = 500;
const turns = Math.max(2, Math.round(Number(callsText) / callsInATurn));
const warmUpTurns = 4;
/** Longer than a batch waits for its last row, and than the thread takes to write it. */
const untilWrittenMs = 350;

const gateways = { off: openGateway({}), again: openGateway({}), port: openGateway({ telemetry: { write: () => undefined } }), sqlite: openGateway({ telemetryUrl: `sqlite:${file}` }) };
const names = Object.keys(gateways);
const taken = Object.fromEntries(names.map((name) => [name, []]));

for (let turn = -warmUpTurns; turn < turns; turn += 1) {
  for (const name of inTurn(turn)) {
    const usedUs = await usedBy(gateways[name]);
    if (turn >= 0) taken[name].push(usedUs);
  }
}
await Promise.all(Object.values(gateways).map((gateway) => gateway.close()));
check();

const added = (name) => median(taken[name].map((usedUs, turn) => usedUs - taken.off[turn]));
console.log(JSON.stringify({ callUs: median(taken.off), againUs: added('again'), portUs: added('port'), sqliteUs: added('sqlite') }));

/** Who comes first comes last in the next turn. */
function inTurn(turn) {
  const first = (turn + warmUpTurns) % names.length;
  return [...names.slice(first), ...names.slice(0, first)];
}

async function usedBy(gateway) {
  const beforeUs = mainThreadUs();
  await callInARow(gateway, callsInATurn);
  await sleep(untilWrittenMs);
  return (mainThreadUs() - beforeUs) / callsInATurn;
}

function check() {
  const database = new (createRequire(import.meta.url)('better-sqlite3'))(file, { readonly: true });
  const { stored } = database.prepare('SELECT count(*) AS stored FROM llm_attempts').get();
  const calls = (warmUpTurns + turns) * callsInATurn;
  if (stored !== calls) throw new Error(`${stored} rows of ${calls} calls are in ${file}.`);
}
