// How cost grows: with streams at once, sources, processes that share one Redis, rows in the database. Prints a table for each axis and writes a plot of it.
//   node bench/scale/run.mjs [streams] [sources] [processes] [rows] [--rounds 5] [--steps 100,1000] [--quick] [--json FILE] [--plots FOLDER] [--rows-folder FOLDER]
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, watchOthers } from '../support/machine.mjs';
import { parseOptions } from '../support/options.mjs';
import { repository } from '../support/places.mjs';
import { shown } from '../support/table.mjs';
import { axisPlots } from './axisPlots.mjs';
import { axisTable } from './axisTable.mjs';
import { measureAxis } from './measureAxis.mjs';
import { processesAxis } from './processesAxis.mjs';
import { rowsAxis } from './rowsAxis.mjs';
import { sourcesAxis } from './sourcesAxis.mjs';
import { streamsAxis } from './streamsAxis.mjs';

const axes = { streams: streamsAxis, sources: sourcesAxis, processes: processesAxis, rows: rowsAxis };
const options = parseOptions(
  { rounds: 5, quick: false, steps: [], json: undefined, plots: undefined, rowsFolder: join(tmpdir(), 'polygateway-bench', 'rows') },
  { takesWords: true, words: Object.keys(axes).join('|'), about: '--steps: of the one axis that is named. --rows-folder keeps databases for the next time.' },
);
const names = options.words.length > 0 ? options.words : Object.keys(axes);
const unknown = names.find((name) => !(name in axes));
if (unknown !== undefined) throw new Error(`There is no axis '${unknown}'. There are: ${Object.keys(axes).join(', ')}.`);
if (options.steps.length > 0 && names.length !== 1) throw new Error('--steps are those of one axis: name it, as in `run.mjs rows --steps 10000,100000`.');

const plotsFolder = options.plots ?? (options.quick ? join(tmpdir(), 'polygateway-bench') : join(repository, 'bench', 'results'));
// What was started ends with us, also where we are told to end.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

mkdirSync(plotsFolder, { recursive: true });
const measurements = [];

console.log(`${describe(['undici', 'rxjs', 'ioredis', 'better-sqlite3'])}\n`);
for (const name of names) await runAxis(name, axes[name]);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(measurements, null, 1));
process.exit(measurements.some(({ error }) => error !== undefined) ? 1 : 0);

async function runAxis(name, axis) {
  const rounds = options.quick ? 1 : Math.min(options.rounds, axis.mostRounds ?? Infinity);
  const steps = options.steps.length > 0 ? options.steps.map(Number) : options.quick ? axis.quickSteps : axis.steps;
  const others = watchOthers();
  const measured = await measureAxis({ axis, steps, rounds, options });
  measurements.push(...measured.map((measurement) => ({ axis: name, ...measurement })));
  console.log(`### ${axis.title}\n\n${axis.notes}; rounds: ${rounds}, cores used by others: ${shown(others.stop())}\n\n${axisTable({ axis, steps, measured })}\n`);
  if (axis.conclusion !== undefined) console.log(`${axis.conclusion({ steps, measured })}\n`);
  for (const { file, svg } of axisPlots({ name, axis, steps, measured })) {
    writeFileSync(join(plotsFolder, file), svg);
    console.log(`Plot: ${join(plotsFolder, file)}`);
  }
  console.log('');
}
