// Installs the tarball into empty projects and uses it there as users would.
//   node spec/package/install.mjs [--tarball FILE] [--node 20,22,24] [--typescript 5.4,5.9] [--linked]
// Only the running Node and TypeScript 7 are tried by default; the others are installed from npm first, but for TypeScript 6, which is here.
import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commonJsTypes, programs, projects } from './consumers.mjs';
import { packBuild } from './packBuild.mjs';
import { runIn } from './runIn.mjs';

const { values: options } = parseArgs({ options: { tarball: { type: 'string' }, node: { type: 'string' }, typescript: { type: 'string' }, linked: { type: 'boolean', default: false } } });
const list = (text) => (text === undefined ? [] : text.split(','));
const repository = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'polygateway-install-'));
const tarball = resolve(options.tarball ?? packBuild(scratch));
const running = [];

try {
  const project = await timed('npm install polygateway rxjs', () => install('project', [tarball, 'rxjs']));
  const compilers = await compilersToTry();
  for (const node of await nodesToTry()) {
    const { printed } = await runIn(project, node, ['--version']);
    await timed(`${printed.trim()}: import, require, missing peers, command line`, () => useWith(node, project));
  }
  for (const [version, tsc] of compilers) await timed(`TypeScript ${version}`, () => compileWith(version, tsc, project));
  if (options.linked) {
    const linked = await timed('npm install --install-strategy=linked', () => install('linked', ['--install-strategy=linked', tarball, 'rxjs']));
    await timed('nothing is used that is not declared', () => useWith(process.execPath, linked));
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  for (const program of running) program.stop();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

async function install(name, what) {
  const folder = join(scratch, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true }));
  await runIn(folder, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...what], { withinS: 300 });
  for (const [file, text] of Object.entries({ ...programs, ...commonJsTypes })) writeFileSync(join(folder, file), text);
  for (const [file, content] of Object.entries(projects)) writeFileSync(join(folder, file), JSON.stringify(content));
  return folder;
}

async function nodesToTry() {
  const versions = list(options.node);
  const running = process.versions.node.split('.')[0];
  if (versions.length === 0) return [process.execPath];
  return Promise.all(versions.map(async (version) => (version === running ? process.execPath : join(await install(`node${version}`, [`node@${version}`]), 'node_modules/node/bin/node'))));
}

async function compilersToTry() {
  const own = [['7', join(repository, '@typescript/native/bin/tsc')], ...(options.typescript === undefined ? [] : [['6', join(repository, 'typescript/bin/tsc6')]])];
  const others = await Promise.all(list(options.typescript).map(async (version) => [version, join(await install(`typescript${version}`, [`typescript@${version}`]), 'node_modules/typescript/bin/tsc')]));
  return [...others, ...own];
}

async function useWith(node, folder) {
  const program = join(folder, 'node_modules/polygateway/dist/cli/main.js');
  const cli = (...args) => runIn(folder, node, [program, ...args]);
  const upstream = await start(node, folder, [program, 'upstream', '--quiet', 'd@0.01"Hello there" f@0.02']);
  const env = { LLM__SIM__1__BASE_URL: upstream.url, LLM__SIM__1__MODEL: 'sim' };

  // Nothing but the answer is printed: no word about `@opentelemetry/api`, none about modules that are experimental.
  for (const file of ['use.mjs', 'use.cjs']) strictEqual((await runIn(folder, node, [file, upstream.url])).printed, 'Hello there\n');
  strictEqual((await runIn(folder, node, ['peers.mjs'])).printed, 'config npm install better-sqlite3\nconfig npm install pg\nconfig npm install ioredis\n');

  match((await cli('--version')).printed, /^\d+\.\d+\.\d+\n$/);
  match((await runIn(folder, node, [program, 'doctor', '--probe'], { env })).printed, /sim\/1/);
  await rejects(runIn(folder, node, [program, 'doctor'], { env: { ...env, LLM__TELEMETRY__URL: 'sqlite:./rows.db' } }), /ended with 3:[^]*npm install better-sqlite3/);
  strictEqual((await runIn(folder, node, [program, 'chat', 'Say hello.'], { env })).printed, 'Hello there\n');
  match((await cli('demo', '--calls', '1', '--json')).printed, /"calls": 1\b/);

  const frontDoor = await start(node, folder, [program, 'serve', '--port', '0', '--quiet'], env);
  const answer = await fetch(`${frontDoor.url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"model":"any","messages":[{"role":"user","content":"Say hello."}]}' });
  deepStrictEqual((await answer.json()).choices.map(({ message }) => message.content), ['Hello there']);
  for (const each of [frontDoor, upstream]) await each.stop();
}

async function compileWith(version, tsc, folder) {
  // Two of the four hold each value once; all of them are for those who ask for compilers.
  const names = Object.keys(projects).filter((name) => options.typescript !== undefined || /nodenext-strict|bundler-loose/.test(name));
  for (const name of names) await runIn(folder, process.execPath, [tsc, '-p', name], { withinS: 200 });
  if (Number(version) < 5.8) return;
  await runIn(folder, process.execPath, [tsc, ...(Number(version) >= 6 ? ['--ignoreConfig'] : []), '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom', 'use.cts']);
}

async function start(node, folder, args, env) {
  const program = runIn(folder, node, args, { env });
  program.catch(() => undefined);
  running.push(program);
  return { url: await program.prints(/^listening on (\S+)/m), stop: program.stop };
}

async function timed(name, work) {
  const startedAt = performance.now();
  const result = await work();
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${name}`);
  return result;
}
