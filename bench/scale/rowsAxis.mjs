import { existsSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureIn } from '../support/child.mjs';
import { repository } from '../support/places.mjs';

const program = resolve(process.env.POLYGATEWAY_DIST ?? join(repository, 'dist'), 'cli/main.js');
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const bytesARow = 600;
const longestMs = 3_600_000;

const report = (folder) => ['report', '--no-whatif', '--out', join(folder, 'report.html')];
const readings = { report, 'report of the last day': (folder) => [...report(folder), '--since', '2026-11-29'], whatif: () => ['whatif'] };

export const rowsAxis = {
  title: 'Rows in the database', notes: 'SQLite, a fresh process for each reading; `report` without predictions, `whatif` with its defaults; the last day is a ninetieth of the rows',
  step: 'rows', steps: [1e4, 1e5, 1e6, 1e7], quickSteps: [1000, 3000], mostRounds: 3, contestants: Object.keys(readings),
  figures: { 'CPU µs/row': 'cpuUsARow', 'wall s': 'wallS', 'CPU s': 'cpuS', 'peak MB': 'peakMb' },
  plots: [{ quantity: 'wallS', y: 'seconds to an answer', logY: true }, { quantity: 'peakMb', y: 'peak MB' }],
  async open({ steps, rowsFolder }) {
    mkdirSync(rowsFolder, { recursive: true });
    checkSpace(rowsFolder, steps);
    const files = new Map();
    for (const rows of steps) files.set(rows, await filled(rowsFolder, rows));
    return { measure: ({ step, contestant }) => read(contestant, files.get(step), step, rowsFolder), close: () => undefined };
  },
};

/** Databases stay for the next time: the largest takes minutes. */
async function filled(folder, rows) {
  const file = join(folder, `${rows}.db`);
  if (existsSync(file)) return file;
  rmSync(`${file}.part`, { force: true });
  await measureIn(here('fillDatabase.mjs'), [`${file}.part`, rows], { timeoutMs: longestMs });
  renameSync(`${file}.part`, file);
  return file;
}

function checkSpace(folder, steps) {
  const needed = steps.filter((rows) => !existsSync(join(folder, `${rows}.db`))).reduce((sum, rows) => sum + rows * bytesARow, 0);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < needed) throw new Error(`${folder} has ${Math.round((bavail * bsize) / 1e6)} MB free, and the databases need ${Math.round(needed / 1e6)}: name another one with --rows-folder, or fewer --steps.`);
}

async function read(contestant, file, rows, folder) {
  const words = [...readings[contestant](folder), '--db', file];
  const { wallMs, cpuMs, peakMb } = await measureIn(program, words, { timeoutMs: longestMs, flags: ['--import', here('tellUsage.mjs')] });
  return { wallS: wallMs / 1000, cpuS: cpuMs / 1000, cpuUsARow: (1000 * cpuMs) / rows, peakMb };
}
