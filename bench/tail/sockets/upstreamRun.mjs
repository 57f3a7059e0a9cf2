import { scaledMs } from './timeScale.mjs';

/**
 * What one contestant does to the sources. `outage` (`fromS`, `forS`, unscaled, from the first request on) makes all of them stand
 * still. A token is paid for once it is written; what was still to come when the client left is not.
 */
export function openRun({ calls, outage }) {
  const counters = { requests: 0, tokens: 0, completed: 0, aborted: 0, open: 0, mostOpen: 0, perSource: {}, requestsInOutage: 0, callsInOutage: 0 };
  const asked = new Map();
  let beganMs;

  const outageMs = () => (outage === undefined ? [Infinity, Infinity] : [beganMs + scaledMs(outage.fromS), beganMs + scaledMs(outage.fromS + outage.forS)]);

  function standstillMs(now) {
    const [fromMs, toMs] = outageMs();
    return beganMs === undefined || now < fromMs ? 0 : Math.min(now, toMs) - fromMs;
  }

  function count(id, source) {
    const nth = (asked.get(`${id}/${source}`) ?? 0) + 1;
    const firstOfCall = !asked.has(id);
    asked.set(`${id}/${source}`, nth).set(id, true);
    counters.requests += 1;
    counters.perSource[source] = (counters.perSource[source] ?? 0) + 1;
    counters.open += 1;
    counters.mostOpen = Math.max(counters.mostOpen, counters.open);
    const now = performance.now();
    const [fromMs, toMs] = outageMs();
    if (now >= fromMs && now < toMs) {
      counters.requestsInOutage += 1;
      counters.callsInOutage += Number(firstOfCall);
    }
    return nth;
  }

  function begin(id, source) {
    beganMs ??= performance.now();
    const nth = count(id, source);
    const timeline = calls[id].attempts(source, nth);
    return {
      attempt: { id, source, nth },
      timeline,
      onDelta() { counters.tokens += timeline.tokensPerDelta; },
      onEnd() { counters.completed += 1; },
      onClose(whole) {
        counters.open -= 1;
        if (!whole) counters.aborted += 1;
      },
    };
  }

  return { counters, begin, standstillMs };
}
