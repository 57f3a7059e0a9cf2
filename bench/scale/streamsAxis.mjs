import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measureIn, startService } from '../support/child.mjs';
import { contestantNamed } from '../streams/contestants.mjs';

const streamsFolder = (name) => fileURLToPath(new URL(`../streams/${name}`, import.meta.url));
const periodMs = 500;
// Beside those of the streams: database, timers, modules, connections of the warm-up.
const otherFiles = 200;

export const streamsAxis = {
  title: 'Streams at once', notes: 'each 2 deltas/s, 10 s, a steady window of 6.5 s', step: 'streams', steps: [100, 300, 1000, 3000, 10_000], quickSteps: [20, 50],
  contestants: ['floor', 'polygateway stream$', 'polygateway chat$'], base: 'floor',
  figures: { 'CPU µs/delta': 'cpuUs', 'core busy': 'coreBusy', 'KB/stream': 'kbPerStream', 'peak MB': 'peakMb', 'p50 ms': 'p50Ms', 'p99 ms': 'p99Ms', 'max ms': 'maxMs', 'upstream busy': 'upstreamBusy' },
  plots: [{ quantity: 'cpuUs', y: 'CPU µs per delta' }, { quantity: 'kbPerStream', y: 'KB per stream' }, { quantity: 'p99Ms', y: 'latency p99, ms', logY: true }],
  async open({ steps, quick }) {
    const upstream = await startService(streamsFolder('upstream/main.mjs'));
    let portAt = 0;
    return {
      async measure({ step, contestant }) {
        checkLimits(step);
        // Each measurement has a port of its own: closed connections keep theirs for a minute.
        const port = upstream.ports[portAt++ % upstream.ports.length];
        const scene = { kind: 'paced', streams: step, deltas: 20, shape: ['paced', periodMs], ...(quick && { deltas: 6, shape: ['paced', 50], settleMs: 50, untilMs: 250 }) };
        return measureIn(streamsFolder('measure.mjs'), [JSON.stringify({ contestant: contestantNamed(contestant), scene, port, upstreamPid: upstream.pid })], { timeoutMs: 180_000 });
      },
      close: () => upstream.stop(),
    };
  },
};

/** A limit of the machine would look like one of the program. */
function checkLimits(streams) {
  const files = Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  if (files < streams + otherFiles) throw new Error(`This shell allows ${files} open files, and ${streams} streams need ${streams + otherFiles} in one process: run \`ulimit -n ${streams + otherFiles}\`.`);
  const [low, high] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/).map(Number);
  if (high - low < streams) throw new Error(`This machine has ${high - low} ports for connections to one address, and ${streams} streams need one each: widen net.ipv4.ip_local_port_range.`);
}
