import { getEventListeners } from 'node:events';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { getHeapSpaceStatistics } from 'node:v8';
import { liveTimers } from './liveTimers.mjs';
import { redisClients } from './redisClients.mjs';

/** What this process holds. */
export function processState() {
  const files = openFiles();
  const clients = redisClients();
  return {
    heapKb: (process.memoryUsage().heapUsed - codeBytes()) / 1024,
    codeKb: codeBytes() / 1024,
    rssKb: process.memoryUsage.rss() / 1024,
    sockets: files.filter((name) => name.startsWith('socket:')).length,
    files: files.filter((name) => !name.startsWith('socket:')).length,
    threads: Number(/Threads:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]),
    timers: liveTimers(),
    handles: process.getActiveResourcesInfo().filter((type) => !['Timeout', 'Immediate'].includes(type)).length,
    processListeners: listenersOf(process),
    redisClients: clients.length,
    redisListeners: clients.reduce((sum, client) => sum + listenersOf(client), 0),
  };
}

export const abortListeners = (signal) => getEventListeners(signal, 'abort').length;

/** Forced, and what is only let go of in a later turn is let go of. */
export async function collected() {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
}

/** Machine code goes on growing for many minutes while V8 finds out what is hot; it is counted by itself. */
function codeBytes() {
  return getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('code_')).reduce((sum, { space_used_size: size }) => sum + size, 0);
}

function listenersOf(emitter) {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}

function openFiles() {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // That of the folder itself is closed by now.
      return [];
    }
  });
}
