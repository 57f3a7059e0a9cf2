import { quantile } from '../../support/statistics.mjs';
import { oracles, plainPolicies } from '../policies.mjs';
import { openWorkload } from '../workload.mjs';
import { unscaledS } from './timeScale.mjs';

const two = ['a', 'b'];
const three = ['a', 'b', 'c'];

/** The row of what `openai` does in the timelines alone. */
export const waitingOnly = 'the timelines of source a';

/** The figures of a round in seconds of the workload, by contestant, the oracles among them. */
export function figuresOf({ seed, calls, results }) {
  const wanted = callsOf(seed, calls);
  const tokens = wanted.reduce((sum, call) => sum + call.tokens, 0);
  const measured = results.map((result) => [result.name, figuresOfOne(result, calls, tokens)]);
  return Object.fromEntries([...reckoned(wanted), ...measured]);
}

/** What `openai` would take if nothing but the timelines took time, and what foresight could do. */
function reckoned(calls) {
  const timesWith = (policy, sources) => timesOf(calls.map((call) => policy(call, sources).ms / 1000));
  const ofOracles = [two, three].flatMap((sources) =>
    Object.entries(oracles).map(([name, policy]) => [`${name}, ${sources.length} sources`, timesWith(policy, sources)]));
  return [[waitingOnly, timesWith(plainPolicies.wait, two)], ...ofOracles];
}

function figuresOfOne({ outcomes, counters, cpuUsPerCall, othersCores, loopLateP99Ms }, calls, tokens) {
  const failed = outcomes.filter(({ fault }) => fault !== undefined);
  return {
    // A call that failed is never there: it must not make its contestant look fast.
    ...timesOf(outcomes.map(({ tookMs, fault }) => (fault === undefined ? unscaledS(tookMs) : Infinity))),
    failed: failed.length,
    faults: [...new Set(failed.map(({ fault }) => fault))],
    extraRequestsPer100: ((counters.requests - calls) / calls) * 100,
    extraTokensPercent: (counters.tokens / tokens - 1) * 100,
    requestsPerCall: counters.requests / calls,
    requestsPerCallInOutage: counters.requestsInOutage / counters.callsInOutage,
    mostOpen: counters.mostOpen,
    cpuMsPerCall: cpuUsPerCall / 1000,
    othersCores,
    loopLateP99Ms,
  };
}

function timesOf(timesS) {
  const done = timesS.filter(Number.isFinite);
  const at = (q) => quantile(timesS, q);
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), mean: done.reduce((sum, timeS) => sum + timeS, 0) / done.length };
}

function callsOf(seed, calls) {
  const workload = openWorkload({ seed });
  return Array.from({ length: calls }, () => workload.next());
}
