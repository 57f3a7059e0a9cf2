import { median } from '../support/statistics.mjs';
import { checkedCall } from './checkedCall.mjs';
import { startMeter } from './meter.mjs';

/** Processor time per delta of streams that come as fast as they are read, after a round of warm-up. */
export async function measureFlat(given) {
  const { scene, baseUrlOf, upstreamPid } = given;
  const { streams, deltas, forMs = 1200, leastRepeats = 3, mostRepeats = 10 } = scene;
  const one = checkedCall(given, deltas);
  const all = () => Promise.all(Array.from({ length: streams }, () => one(baseUrlOf(scene))));
  await all();
  const repeats = [];
  for (let spentMs = 0; repeats.length < leastRepeats || (repeats.length < mostRepeats && spentMs < forMs); spentMs += repeats.at(-1).wallMs) {
    const meter = startMeter(upstreamPid);
    await all();
    repeats.push(meter.read());
  }
  const middle = (name) => median(repeats.map((figures) => figures[name]));
  return { cpuUs: middle('cpuUs') / streams / deltas, wallUs: (middle('wallMs') * 1000) / streams / deltas, upstreamBusy: middle('upstreamBusy') };
}
