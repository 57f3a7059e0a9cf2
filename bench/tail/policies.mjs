import { run } from './timelines.mjs';

/** Real clients give up after three or so; fewer tries would end calls sooner than they can be answered. */
const mostTries = 10;

/**
 * What plain clients do, in closed form: each answers how long the call took, the requests it sent and the tokens that were made
 * for it. They start again at once, which is kinder than real ones, who pause.
 */
export const plainPolicies = {
  wait: restarting({ limitMs: Infinity, at: (sources) => sources[0] }),
  'watchdog 300 s, again': restarting({ limitMs: 300_000, at: (sources) => sources[0] }),
  'watchdog 120 s, again': restarting({ limitMs: 120_000, at: (sources) => sources[0] }),
  'time-out 20 s, next source': restarting({ limitMs: 20_000, at: (sources, nth) => sources[nth % sources.length] }),
  'every source from the start': race,
};

/** What foresight could do. The first knows each source's answer before it asks; the second learns at the beginning of a silence how long it will be. */
export const oracles = {
  'oracle: the best source': bestSource,
  'oracle: the best switch': bestSwitch,
};

/** `at` names the source of the nth try, from 0; a silence over `limitMs`, also before the first delta, ends a try, and its text is lost. */
function restarting({ limitMs, at }) {
  return (call, sources) => {
    const asked = new Map();
    const total = { ms: 0, requests: 0, tokens: 0 };
    for (;;) {
      const source = at(sources, total.requests);
      asked.set(source, (asked.get(source) ?? 0) + 1);
      const { ms, tokens, done } = run(call.attempts(source, asked.get(source)), { limitMs });
      total.ms += ms;
      total.tokens += tokens;
      total.requests += 1;
      if (done || total.requests === mostTries) return { ...total, failed: !done };
    }
  };
}

function race(call, sources) {
  const timelines = sources.map((source) => call.attempts(source, 1));
  const ms = Math.min(...timelines.map((timeline) => run(timeline).ms));
  const tokens = timelines.reduce((sum, timeline) => sum + run(timeline, { untilMs: ms }).tokens, 0);
  return { ms, requests: sources.length, tokens };
}

function bestSource(call, sources) {
  return { ms: race(call, sources).ms, requests: 1, tokens: call.tokens };
}

/** Asks the best other source in the turn in which a silence over 20 s begins, and only where that is worth it. */
function bestSwitch(call, [first, ...others]) {
  const timeline = call.attempts(first, 1);
  const alone = { ms: run(timeline).ms, requests: 1, tokens: call.tokens };
  const silentAt = timeline.gaps.findIndex((ms, at) => at > 0 && ms > 20_000);
  if (silentAt < 0) return alone;
  const before = run({ ...timeline, gaps: timeline.gaps.slice(0, silentAt) });
  const ms = before.ms + Math.min(...others.map((source) => run(call.attempts(source, 1)).ms));
  return ms < alone.ms ? { ms, requests: 2, tokens: call.tokens + run(timeline, { untilMs: ms }).tokens } : alone;
}
