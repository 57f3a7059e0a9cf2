import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { nowMs } from './clock.mjs';

const children = new Set();
const probe = new URL('probe.mjs', import.meta.url).href;
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** A process that can be asked what it uses. It ends with this one at the latest. */
export function start(file, args, { execArgv = [], env = process.env } = {}) {
  const child = fork(file, args, { env, execArgv: ['--expose-gc', '--import', probe, ...execArgv], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

export async function stop(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** The next message of a child that has this in it. */
export async function told(child, name) {
  for (;;) {
    const [message] = await once(child, 'message');
    if (name in message) return message[name];
  }
}

export async function usageOf(child, { gc = false } = {}) {
  child.send({ ask: 'usage', gc });
  return told(child, 'usage');
}

/** Open sockets of a process, counted from outside, so that it need not stop for that. */
export function socketsOf({ pid }) {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`).startsWith('socket:')).length;
}

/** A file that was open a moment ago may be closed by now. */
function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** How far the clock of another process is from ours, by the quickest of some questions; it is wrong by half of that time at most. */
export async function clockApart(child) {
  let best = { errorMs: Infinity, apartMs: NaN };
  for (let round = 0; round < 30; round += 1) {
    const askedMs = nowMs();
    const { nowMs: theirs } = await usageOf(child);
    const answeredMs = nowMs();
    const errorMs = (answeredMs - askedMs) / 2;
    if (errorMs < best.errorMs) best = { errorMs, apartMs: theirs - (askedMs + answeredMs) / 2 };
  }
  return best;
}

/** Processor time used so far, by each child and by the whole machine. */
export async function processorTimes(named) {
  const each = await Promise.all(Object.entries(named).map(async ([name, child]) => [name, (await usageOf(child)).cpuS]));
  return { atMs: nowMs(), each: Object.fromEntries(each), machine: machineTimes() };
}

/** Cores in use between two looks: by each child, by all other processes, and by other machines on the same processor. */
export function coresBetween(first, last) {
  const tookS = (last.atMs - first.atMs) / 1000;
  const each = Object.fromEntries(Object.entries(last.each).map(([name, cpuS]) => [name, (cpuS - first.each[name]) / tookS]));
  const ours = Object.values(each).reduce((sum, cores) => sum + cores, 0);
  return { ...each, others: (last.machine.busyS - first.machine.busyS) / tookS - ours, stolen: (last.machine.stolenS - first.machine.stolenS) / tookS };
}

function machineTimes() {
  const [user, nice, system, , , irq, softirq, stolen] = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1).map(Number);
  return { busyS: (user + nice + system + irq + softirq) / 100, stolenS: stolen / 100 };
}
