import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

/** Processor time of a process so far, all its threads, in µs. Of another one it is that of the threads it still has. */
export function cpuUs(pid) {
  if (pid === undefined) {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadUs(pid, thread), 0);
}

function threadUs(pid, thread) {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return 0;
  }
}

export const rssKb = (pid = 'self') => statusKb('VmRSS', pid) ?? process.memoryUsage.rss() / 1024;

/** The most memory since the start, or since `resetPeak()` where the kernel allows it. */
export const peakRssKb = (pid = 'self') => statusKb('VmHWM', pid) ?? process.resourceUsage().maxRSS;

export function resetPeak(pid = 'self') {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Not allowed here: the peak is that since the start.
  }
}

function statusKb(key, pid) {
  try {
    return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
  } catch {
    return undefined;
  }
}
