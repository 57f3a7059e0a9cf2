import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

// A signal alone would end this process without its `exit`, and leave its children behind.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Runs `script` in a fresh process and answers the JSON of its last line of output; whatever goes wrong names the script and its last words. */
export function measureIn(script, args = [], { timeoutMs = 120_000, flags = [], env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, script, ...args.map(String)], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    const said = { out: '', err: '' };
    child.stdout.on('data', (bytes) => (said.out += bytes));
    child.stderr.on('data', (bytes) => (said.err += bytes));
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const stopChild = () => child.kill('SIGKILL');
    process.once('exit', stopChild);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      process.removeListener('exit', stopChild);
      const answer = code === 0 ? lastJson(said.out) : undefined;
      if (answer !== undefined) resolve(answer);
      else reject(new Error(`${script} ${args.join(' ')}: ${signal === 'SIGKILL' ? `ended after ${timeoutMs} ms or killed` : `exit code ${code}`}. ${(said.err || said.out).trim().slice(-800)}`));
    });
  });
}

function lastJson(text) {
  try {
    return JSON.parse(text.trim().split('\n').at(-1));
  } catch {
    return undefined;
  }
}

/** Starts `script`, which prints one line of JSON when it is ready and ends when its channel to us closes. */
export async function startService(script, args = [], { flags = [] } = {}) {
  const child = spawn(process.execPath, [...flags, script, ...args.map(String)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ready = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code} before it was ready.`)));
  });
  // Nothing of it may keep a run alive that is over.
  child.unref();
  child.stdout.unref();
  child.channel.unref();
  return { ...ready, pid: child.pid, stop: () => child.kill() };
}
