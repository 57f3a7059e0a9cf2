// Runs programs one after the other in this process, so that what they import is loaded once: node playBlocks.mjs PLAN RESULTS
// PLAN: JSON, [{ file, cwd, env }]. RESULTS: a line of JSON for each program that has ended, { code, stdout, stderr }.
import { appendFileSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [plan, results] = process.argv.slice(2);
const waiting = JSON.parse(readFileSync(plan, 'utf8'));
const ownEnv = { ...process.env };
let running;

// Emitted when nothing is left that Node would wait for: the point at which a process of its own would have ended.
process.on('beforeExit', () => {
  if (running !== undefined) record(running);
  running = undefined;
  const next = waiting.shift();
  if (next !== undefined) begin(next);
});
process.on('uncaughtException', (error) => fail(error));
process.on('exit', () => running !== undefined && record(running));

for (const name of ['stdout', 'stderr']) {
  process[name].write = (text, ...rest) => {
    if (running !== undefined) running[name] += text;
    rest.find((one) => typeof one === 'function')?.();
    return true;
  };
}

function begin({ file, cwd, env }) {
  process.chdir(cwd);
  for (const key of Object.keys(process.env)) delete process.env[key];
  Object.assign(process.env, ownEnv, env);
  // A program that waits for nothing would end this process without a further `beforeExit`.
  setImmediate(() => {});
  // The code of Node for a module whose top-level await never settles.
  running = { code: 13, stdout: '', stderr: '' };
  import(pathToFileURL(file).href).then(() => (running.code = running.code === 13 ? 0 : running.code), fail);
}

function fail(error) {
  running.code = 1;
  running.stderr += `${error?.stack ?? error}\n`;
}

function record({ code, stdout, stderr }) {
  appendFileSync(results, `${JSON.stringify({ code: code === 0 ? (process.exitCode ?? 0) : code, stdout, stderr })}\n`);
  process.exitCode = undefined;
}
