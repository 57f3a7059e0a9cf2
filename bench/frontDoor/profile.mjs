// Says where the time of CPU profiles (`node --cpu-prof`) went, without their first seconds: profile.mjs FOLDER_OR_FILE [SECONDS]
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const top = 30;
const [, , given, skipS = '0'] = process.argv;
const files = statSync(given).isDirectory() ? readdirSync(given).filter((name) => name.endsWith('.cpuprofile')).map((name) => join(given, name)) : [given];
for (const file of files) print(JSON.parse(readFileSync(file, 'utf8')));

function print({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const child of node.children ?? []) byId.get(child).parent = node;
  const self = new Map();
  let passedUs = 0;
  samples.forEach((id, place) => {
    passedUs += timeDeltas[place];
    if (passedUs >= Number(skipS) * 1e6) add(self, id, timeDeltas[place]);
  });
  const sums = { frames: new Map(), modules: new Map(), within: new Map() };
  let busy = 0;
  let idle = 0;
  for (const [id, took] of self) {
    const node = byId.get(id);
    if (node.callFrame.functionName === '(idle)') {
      idle += took;
      continue;
    }
    busy += took;
    add(sums.frames, frameOf(node), took);
    add(sums.modules, moduleOf(node), took);
    // Each module once, however often it is on the stack.
    const modules = new Set();
    for (let at = node; at !== undefined; at = at.parent) modules.add(moduleOf(at));
    for (const module of modules) add(sums.within, module, took);
  }
  console.log(`busy ${(busy / 1e6).toFixed(1)} s, idle ${(idle / 1e6).toFixed(1)} s`);
  table('self time by function', sums.frames, busy);
  table('self time by module', sums.modules, busy);
  table('inclusive time by module', sums.within, busy);
}

function table(title, sums, busy) {
  console.log(`\n${title}`);
  for (const [name, took] of [...sums].sort(([, a], [, b]) => b - a).slice(0, top)) console.log(`${((100 * took) / busy).toFixed(1).padStart(6)} %  ${name}`);
}

function frameOf({ callFrame: { functionName, url, lineNumber } }) {
  return `${functionName || '(anonymous)'} ${url === '' ? '' : `${shortened(url)}:${lineNumber + 1}`}`.trim();
}

function moduleOf({ callFrame: { functionName, url } }) {
  return url === '' ? functionName : shortened(url);
}

function shortened(url) {
  return url.replace(/^file:\/\//, '').replace(/^.*\/node_modules\//, '').replace(/^.*\/dist\//, 'dist/').replace(/\?.*$/, '');
}

function add(sums, name, took) {
  sums.set(name, (sums.get(name) ?? 0) + took);
}
