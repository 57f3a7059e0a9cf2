import { checkedCall } from './checkedCall.mjs';
import { startMeter } from './meter.mjs';
import { warmUp } from './warmUp.mjs';

/** Calls per second and processor time per call, so many at a time. */
export async function measureCalls(given) {
  const { scene, baseUrlOf, upstreamPid } = given;
  const { concurrency, deltas, forMs = 1800, warmUpMs = 5000, leastCalls = 300 } = scene;
  const one = checkedCall(given, deltas);
  const baseUrl = baseUrlOf(scene);

  // By number too: on a slow machine a time alone would be too few.
  async function callFor(ms, least) {
    const endMs = performance.now() + ms;
    let begun = 0;
    const worker = async () => {
      while (performance.now() < endMs || begun < least) {
        begun += 1;
        await one(baseUrl);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return begun;
  }

  await warmUp(given, warmUpMs);
  const meter = startMeter(upstreamPid);
  const calls = await callFor(forMs, leastCalls);
  const { cpuUs, wallMs, upstreamBusy } = meter.read();
  return { cpuUs: cpuUs / calls, callsPerS: calls / (wallMs / 1000), upstreamBusy };
}
