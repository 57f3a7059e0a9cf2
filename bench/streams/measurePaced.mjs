import { get } from 'node:http';
import { nowUs, sleep } from '../support/clock.mjs';
import { openAll } from '../support/openAll.mjs';
import { peakRssKb, resetPeak, rssKb } from '../support/processFigures.mjs';
import { quantile } from '../support/statistics.mjs';
import { startMeter } from './meter.mjs';
import { warmUp } from './warmUp.mjs';
import { stampLength } from './upstream/frames.mjs';

const opensPerS = 1000;

/**
 * Processor time and latency per delta, and memory, of streams that are slow and many. Nothing flows before all are open. Time and latency are those
 * of a steady window in which none begins or ends; who is so far behind that nothing comes in it has only the time of the whole, from
 * the first delta to the last end. Memory is the most of the whole, compared with before, the warm-up over.
 */
export async function measurePaced({ call, scene, baseUrlOf, upstreamPid, whole }) {
  const { streams, deltas, shape: [, periodMs], settleMs = 2000, untilMs = 8500, warmUpMs = 5000 } = scene;
  await warmUp({ call, baseUrlOf }, warmUpMs);
  const stamps = readStamps(streams * deltas, whole);
  await sleep(200);
  const beforeKb = rssKb();
  resetPeak();

  const baseUrl = baseUrlOf(scene, streams);
  const opened = gateOpens(baseUrl).then(async () => {
    const wholeMeter = startMeter(upstreamPid);
    const fromUs = nowUs() + settleMs * 1000;
    const untilUs = fromUs + (untilMs - settleMs) * 1000;
    await sleep(settleMs);
    const meter = startMeter(upstreamPid);
    const before = stamps.count();
    await sleep(Math.max(0, (untilUs - nowUs()) / 1000));
    const { cpuUs, wallMs, upstreamBusy } = meter.read();
    // Of a whole answer nothing is seen while it comes; the upstream keeps its pace.
    const passed = whole ? (streams * wallMs) / periodMs : stamps.count() - before;
    return { cpuUs: passed > 0 ? cpuUs / passed : NaN, coreBusy: cpuUs / 1000 / wallMs, upstreamBusy, fromUs, untilUs, wholeMeter };
  });
  await Promise.all(await openAll(streams, opensPerS, () => call(baseUrl, stamps.read)));
  stamps.check();
  const peakKb = peakRssKb();
  const { fromUs, untilUs, wholeMeter, ...steady } = await opened;
  return { ...steady, wholeUs: wholeMeter.read().cpuUs / (streams * deltas), ...(whole ? {} : latencies(stamps.between(fromUs, untilUs))), peakMb: peakKb / 1024, kbPerStream: (peakKb - beforeKb) / streams };
}

// Not `fetch`, which would load a client of its own, and count as memory of the streams.
const gateOpens = (baseUrl) => new Promise((resolve, reject) => get(baseUrl, (response) => resolve(void response.resume())).on('error', reject));

function latencies(us) {
  return { p50Ms: quantile(us, 0.5) / 1000, p99Ms: quantile(us, 0.99) / 1000, maxMs: quantile(us, 1) / 1000 };
}

/** Reads the times of writing out of the content; a delta of another length has been merged or cut. */
function readStamps(expected, whole) {
  // Filled, so that their pages do not count as memory of the streams.
  const sentUs = new Float64Array(expected).fill(0);
  const lateUs = new Float64Array(expected).fill(0);
  let count = 0;
  let odd = 0;
  return {
    read(text) {
      const now = nowUs();
      if (!whole && text.length !== stampLength) odd += 1;
      for (let at = 0; at < text.length; at += stampLength) {
        sentUs[count] = Number(text.slice(at + 1, at + stampLength));
        lateUs[count] = now - sentUs[count];
        count += 1;
      }
    },
    count: () => count,
    check() {
      if (count !== expected || odd > 0 || !lateUs.every((us) => us >= 0)) {
        throw new Error(`${count} deltas instead of ${expected}, ${odd} of another length than ${stampLength}.`);
      }
    },
    between: (fromUs, untilUs) => lateUs.filter((_, at) => sentUs[at] >= fromUs && sentUs[at] < untilUs),
  };
}
