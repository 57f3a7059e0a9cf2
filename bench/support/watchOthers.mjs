import { readFileSync, readdirSync } from 'node:fs';

const ticksPerS = 100;

/** How many cores programs other than this one and its children used until `stop()`; NaN where the kernel does not say. */
export function watchOthers() {
  const before = snapshot();
  return {
    stop() {
      const after = snapshot();
      const seconds = (after.at - before.at) / 1000;
      return Math.max(0, (after.machine - before.machine - (after.own - before.own)) / ticksPerS / seconds);
    },
  };
}

function snapshot() {
  const at = performance.now();
  try {
    return { at, machine: machineTicks(), own: treeTicks() };
  } catch {
    return { at, machine: NaN, own: NaN };
  }
}

// Time that the host gave to other machines disturbs as much as that of other programs. Interrupts are left out: most are our own packets.
function machineTicks() {
  const [user, nice, system, , , , , steal] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].trim().split(/\s+/).slice(1).map(Number);
  return user + nice + system + steal;
}

function treeTicks() {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap(readProcess);
  const tree = new Set([process.pid]);
  // Parents mostly come before their children, but numbers may wrap around.
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of processes) if (tree.has(parent)) tree.add(pid);
  }
  return processes.filter(({ pid }) => tree.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0);
}

// What children used that have ended is counted with their parent.
function readProcess(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [{ pid: Number(pid), parent: Number(fields[1]), ticks: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) }];
  } catch {
    return [];
  }
}
