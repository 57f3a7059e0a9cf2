import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { median } from '../../support/statistics.mjs';
import { table } from '../../support/table.mjs';

const script = fileURLToPath(new URL('store.mjs', import.meta.url));
const stores = ['nothing', 'polygateway, no database', 'polygateway', 'main thread, 100 a transaction', 'main thread, one by one'];
const arrivals = ['flat', 'paced', 'pausesFlat', 'pausesPaced'];
const rowsOf = { flat: 40_000, paced: 4000, pausesFlat: 40_000, pausesPaced: 4000 };

/** What a row costs whoever makes it, and how long it makes the loop stand still. */
export async function measureRows({ rounds, quick }) {
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-rows-'));
  const measured = [];
  try {
    for (let round = 0; round < rounds; round += 1) measured.push(await measureRound(folder, round, quick ? 0.1 : 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { raw: measured, markdown: [costTable(measured), pausesTable(measured)].join('\n\n') };
}

async function measureRound(folder, round, share) {
  const measured = {};
  for (const arrival of arrivals) {
    measured[arrival] = {};
    for (const [at, store] of stores.entries()) {
      const file = join(folder, `${round}-${arrival}-${at}.db`);
      measured[arrival][store] = await measureIn(script, [store, arrival, rowsOf[arrival] * share, file], { flags: ['--expose-gc'] });
      for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
    }
  }
  return measured;
}

/** Records have to be made and handed over where nothing is stored too: that is taken off. */
function costTable(rounds) {
  const rows = stores.slice(1).map((store) => {
    const over = (arrival, name) => median(rounds.map((round) => round[arrival][store][name] - round[arrival].nothing[name]));
    return [store, over('flat', 'mainUs'), over('flat', 'cpuUs'), median(rounds.map(({ flat }) => flat[store].perS)), over('paced', 'mainUs'), over('paced', 'cpuUs')];
  });
  return table(['stored by', 'flat out: µs a row on the main thread', 'in all threads', 'rows/s', '1,000 rows/s: µs on the main thread', 'in all threads'], rows);
}

function pausesTable(rounds) {
  const rows = stores.map((store) => [store, ...['pausesFlat', 'pausesPaced'].flatMap((arrival) => {
    const longest = rounds.map((round) => round[arrival][store].longestMs);
    return [median(longest), Math.max(...longest), median(rounds.map((round) => round[arrival][store].longestMs / round[arrival].nothing.longestMs))];
  })]);
  return table(['stored by', 'flat out: longest pause, ms, median', 'worst', 'of nothing', '1,000 rows/s: longest pause, ms, median', 'worst', 'of nothing'], rows);
}
