/** @alone Its processes need every core. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChildProcess } from 'node:child_process';
import { messageOf, sleep, startChild } from './fixtures/child.js';

interface Servers {
  plain: string;
  tls: string;
}
interface BlockRow {
  phase: string;
  inside: string;
  transport: string;
  detector: string;
  fires: number;
  frames: number;
}
interface Crowd {
  detectors: number;
  fired: number;
  realTimers: number;
}
interface Noticed {
  when: string;
  detector: string;
  fires: number;
  lateMs: number;
}
interface Stopped {
  frames: number;
  fires: number;
}

const thresholdMs = 1000;
const blockMs = 3 * thresholdMs;
// Ten frames a limit here as well; these clients block three times each.
const scaledDown = { thresholdMs: 700, blockMs: 2100 };
const phases = ['data callback', 'setImmediate', 'microtask', 'setTimeout'];
const framesUntilSilent = { 'long before the block': 6, 'just before it': 18, 'during it': 35, 'after it': 58 };

// Blocks cost no processor time, so that all clients can run side by side, each in a process of its own.
async function runClients({ plain, tls }: Servers) {
  const url = `${plain}/plain?every=100`;
  const urls = { plain: `${plain}/plain?every=70`, tls: `${tls}/plain?every=70`, gzip: `${plain}/gzip?every=70` };
  const start = (name: string, options: object): ChildProcess => startChild(name, { scheduler: 'monotonic', thresholdMs, blockMs, ...options });

  const ours = phases.map((phase) => start('blockedClient.mjs', { ...scaledDown, phases: [phase], urls }));
  const control = start('blockedClient.mjs', { ...scaledDown, scheduler: 'async', phases: phases.slice(0, 2), urls: { plain: urls.plain } });
  const crowd = start('crowdClient.mjs', { url: `${plain}/plain?every=250`, sockets: 200, detectorsEach: 10 });
  const silent = start('silentClient.mjs', { url, framesUntilSilent, blockAfterMs: 2200 });
  const stopped = start('stoppedClient.mjs', { url });

  const all = [...ours, control, crowd, silent, stopped];
  await Promise.all(all.map(messageOf));
  all.forEach((child) => child.send('go'));
  const [ourRows, controlRows, crowdFigures, silentRows, stoppedFigures] = await Promise.all([
    Promise.all(ours.map((child) => messageOf<BlockRow[]>(child))),
    messageOf<BlockRow[]>(control),
    messageOf<Crowd>(crowd),
    messageOf<Noticed[]>(silent),
    stopAndContinue(stopped),
  ]);
  return { ours: ourRows.flat(), control: controlRows, crowd: crowdFigures, silent: silentRows, stopped: stoppedFigures };
}

async function stopAndContinue(child: ChildProcess): Promise<Stopped> {
  await sleep(1000);
  child.kill('SIGSTOP');
  await sleep(blockMs);
  child.kill('SIGCONT');
  await sleep(500);
  child.send('finish');
  return messageOf<Stopped>(child);
}

describe('silence detectors on sockets with ten frames a limit, loop blocked for three limits', () => {
  let server: ChildProcess;
  let seen: Awaited<ReturnType<typeof runClients>>;

  beforeAll(async () => {
    server = startChild('dataServer.mjs');
    seen = await runClients(await messageOf<Servers>(server));
  }, 60_000);

  afterAll(() => void server.kill());

  test.each(phases)('T3: none fires when the block sits in: %s; plain, TLS and gzip', (phase) => {
    const rows = seen.ours.filter((row) => row.phase === phase);
    expect(rows.filter(({ fires }) => fires > 0)).toEqual([]);
    // Each block held back more than a limit's worth of frames, so there was something to be wrong about.
    expect(rows.filter(({ frames }) => frames > 10)).toHaveLength(18);
  });

  test.each(phases.slice(0, 2))('control: on asyncScheduler they do fire when the block sits in: %s', (phase) => {
    const rows = seen.control.filter((row) => row.phase === phase);
    expect(rows.map(({ fires }) => fires > 0)).toEqual([true, true]);
  });

  test('T3, T6: none of 2,000 detectors fires after one block, and they share few real timers', () => {
    const { realTimers, ...others } = seen.crowd;
    expect(others).toEqual({ detectors: 2000, fired: 0 });
    expect(realTimers).toBeLessThan(8);
  });

  test('T3: a source that is truly silent is still noticed once, soon after the limit or the block', () => {
    expect(seen.silent.map(({ when, fires }) => `${when}: ${fires}`)).toEqual(Object.keys(framesUntilSilent).flatMap((when) => [`${when}: 1`, `${when}: 1`]));
    expect(seen.silent.filter(({ lateMs }) => lateMs < 0 || lateMs > 400)).toEqual([]);
  });

  test('CL-02: none fires when the process itself was stopped and continued', () => {
    expect(seen.stopped.fires).toBe(0);
    expect(seen.stopped.frames).toBeGreaterThan(15);
  });
});
