// One contestant in a process of its own: asks the calls of a round as they arrive, checks every text, prints one line of JSON.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { cpuUs } from '../../support/processFigures.mjs';
import { arrivalsMs } from './arrivals.mjs';
import { faultOf } from './markedText.mjs';

const { url, contestant, seed, calls, callsPerS } = JSON.parse(process.argv[2]);
const { module, sources, ...configuration } = contestant;
const { open } = await import(`./contestants/${module}.mjs`);
const { ask, close } = open({ ...configuration, urls: sources.map((source) => `${url}/${source}/v1`) });

// So that connections are open and the code is compiled: cold, a call costs several times as much as later.
for (let nth = 0; nth < 20; nth += 1) await Promise.all(Array.from({ length: 20 }, () => ask('call warm-up')));

const resolution = 10; // Ms; the monitor's delays contain it.
const loop = monitorEventLoopDelay({ resolution });
loop.enable();
const beganMs = performance.now();
const beganUs = cpuUs();
const outcomes = await Promise.all(arrivalsMs({ seed, calls, callsPerS }).map(oneCall));
const usedUs = cpuUs() - beganUs;
loop.disable();
await close?.();

const figures = { outcomes, cpuUsPerCall: usedUs / calls, wallMs: performance.now() - beganMs, loopLateP99Ms: loop.percentile(99) / 1e6 - resolution };
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit());

/** A call's time runs from when it should have come, so that a process too busy to begin it does not look fast. */
async function oneCall(arrivalMs, id) {
  await new Promise((resolve) => setTimeout(resolve, beganMs + arrivalMs - performance.now()));
  try {
    const fault = faultOf(await ask(`call ${id}`), id);
    const tookMs = performance.now() - beganMs - arrivalMs;
    return fault === undefined ? { tookMs } : { tookMs, fault };
  } catch (error) {
    return { tookMs: performance.now() - beganMs - arrivalMs, fault: `${error.name}: ${error.message}`.slice(0, 200) };
  }
}
