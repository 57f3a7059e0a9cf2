import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { median } from '../../support/statistics.mjs';
import { table } from '../../support/table.mjs';

const script = fileURLToPath(new URL('callsInARow.mjs', import.meta.url));

/** What telemetry adds to a call on the main thread. */
export async function measureCalls({ rounds, quick }) {
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-calls-'));
  const measured = [];
  try {
    for (let round = 0; round < rounds; round += 1) measured.push(await measureIn(script, [quick ? 1000 : 10_000, join(folder, `${round}.db`)], { timeoutMs: 300_000 }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const of = (name) => median(measured.map((round) => round[name]));
  const row = (words, name) => [words, of(name), median(measured.map((round) => round[name] / round.callUs))];
  return { raw: measured, markdown: table(['main thread, per call', 'µs', 'of a call'], [row('a call without telemetry', 'callUs'), row('+ the same once more: what cannot be told apart', 'againUs'), row('+ rows to a sink that stores nothing', 'portUs'), row('+ rows to SQLite', 'sqliteUs')]) };
}
