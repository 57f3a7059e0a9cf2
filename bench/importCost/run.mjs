// What `import` of each package costs in a process of its own: processor time, since the machine may have other things to do, and in turns.
//   node bench/importCost/run.mjs [--rounds 7]
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const loadedBy = join(root, 'spec/package/loadedBy.mjs');
const names = ['rxjs', 'polygateway/operators', 'polygateway', 'polygateway/testing', 'openai', 'ai', '@langchain/openai'];
const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } });

const probe = (name) => `
  const before = process.memoryUsage().heapUsed, idle = process.cpuUsage();
  await import(${JSON.stringify(name)});
  const { user, system } = process.cpuUsage(idle), ms = (user + system) / 1000;
  gc();
  console.log(JSON.stringify({ ms, heap: process.memoryUsage().heapUsed - before }));`;
const measure = (name) => JSON.parse(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', probe(name)], { cwd: root, encoding: 'utf8' }));

// The first round fills the file cache and does not count.
const rounds = Array.from({ length: Number(options.rounds) + 1 }, () => names.map(measure)).slice(1);
const median = (figures) => figures.sort((one, other) => one - other)[Math.floor(figures.length / 2)];
const rows = names.map((name, at) => {
  const files = JSON.parse(execFileSync(process.execPath, [loadedBy, name, root], { encoding: 'utf8' }));
  return { name, version: versionOf(name), ms: median(rounds.map((round) => round[at].ms)), heap: median(rounds.map((round) => round[at].heap)), modules: files.length, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
});

const msOf = (name) => rows.find((row) => row.name === name).ms;
console.log(`Node ${process.versions.node}, medians of ${rounds.length}\n`);
console.log('| import | version | ms of processor | of `rxjs` | of `openai` | modules | kB of code | MB of heap |\n| --- | --- | --- | --- | --- | --- | --- | --- |');
for (const { name, version, ms, heap, modules, bytes } of rows) {
  console.log(`| \`${name}\` | ${version} | ${ms.toFixed(0)} | ${(ms / msOf('rxjs')).toFixed(1)} | ${(ms / msOf('openai')).toFixed(1)} | ${modules} | ${(bytes / 1000).toFixed(0)} | ${(heap / 1e6).toFixed(1)} |`);
}

function versionOf(name) {
  const own = join(root, 'node_modules', /^(@[^/]+\/)?[^/]+/.exec(name)[0], 'package.json');
  return JSON.parse(readFileSync(existsSync(own) ? own : join(dirname(own), '../../package.json'), 'utf8')).version;
}
