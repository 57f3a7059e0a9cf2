import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { median } from '../../support/statistics.mjs';
import { table } from '../../support/table.mjs';
import { startPostgres } from './startPostgres.mjs';

const script = fileURLToPath(new URL('../rows/store.mjs', import.meta.url));
const stores = ['nothing', 'polygateway, Postgres'];
const rowsOf = { flat: 10_000, pausesPaced: 4000 };

/** What a row to Postgres costs: the driver has no thread of its own. */
export async function measurePostgres({ rounds, quick }) {
  const server = await startPostgres();
  if (server === undefined) return { raw: [], markdown: 'There is no Postgres here (apt-get install -y postgresql).' };
  const measured = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measureRound(server, round, quick ? 0.2 : 1));
  const over = (name) => median(measured.map(({ flat }) => flat['polygateway, Postgres'][name] - flat.nothing[name]));
  const pause = (store) => median(measured.map(({ pausesPaced }) => pausesPaced[store].longestMs));
  const perS = median(measured.map(({ flat }) => flat['polygateway, Postgres'].perS));
  const rows = [[stores[1], over('mainUs'), over('cpuUs'), perS, pause(stores[1]), pause('nothing')]];
  return { raw: measured, markdown: table(['stored by', 'µs a row on the main thread', 'in all threads', 'rows/s', '1,000 rows/s: longest pause, ms', 'of an idle process'], rows) };
}

async function measureRound(server, round, share) {
  const measured = {};
  for (const [arrival, rows] of Object.entries(rowsOf)) {
    measured[arrival] = {};
    for (const [at, store] of stores.entries()) {
      const url = await server.createDatabase(`round${round}_${arrival.toLowerCase()}_${at}`);
      measured[arrival][store] = await measureIn(script, [store, arrival, rows * share, url], { flags: ['--expose-gc'] });
    }
  }
  return measured;
}
