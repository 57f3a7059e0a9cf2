import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { median } from '../../support/statistics.mjs';
import { table } from '../../support/table.mjs';

const script = fileURLToPath(new URL('parts.mjs', import.meta.url));

/** What makes up the cost of a row on the main thread. */
export async function measureRowParts({ rounds, quick }) {
  const measured = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measureIn(script, [quick ? 10 : 60]));
  const rows = Object.keys(measured[0]).map((step) => [step, ...['us', 'leastUs'].map((name) => median(measured.map((round) => round[step][name])))]);
  return { raw: measured, markdown: table(['step', 'µs a row', 'at the least'], rows) };
}
