import { run } from '../timelines.mjs';
import { limits, retry } from './limits.mjs';

/**
 * The gateway's rule in closed form, to be held against the gateway itself: a backup when the primary, later all that run, have been
 * silent for `stallAfterMs`; the first to complete wins; a round that fails as a whole is followed by another.
 */
export function predicted({ stallAfterMs, maxBackups = 1, interTokenTimeoutMs = limits.interTokenTimeoutMs }) {
  return (call, sources) => {
    const asked = [];
    const ask = (fromMs, running) => {
      const source = leastTried(sources.filter((id) => !running.some((attempt) => attempt.source === id)), asked);
      const nth = asked.filter((attempt) => attempt.source === source).length + 1;
      asked.push(openAttempt(source, fromMs, call.attempts(source, nth), interTokenTimeoutMs));
      return asked.at(-1);
    };
    let round = { endMs: 0 };
    for (let nth = 1; nth <= retry.maxAttempts && !round.done; nth += 1) {
      const backoffMs = nth === 1 ? 0 : retry.backoffMs * 2 ** (nth - 2);
      round = playRound({ startMs: round.endMs + backoffMs, ask, stallAfterMs, maxBackups, sources });
    }
    const tokens = asked.reduce((sum, attempt) => sum + tokensUntil(attempt, Math.min(attempt.endMs, round.endMs)), 0);
    // What a loser says in the very instant of the end may come before it or not.
    const losers = asked.filter(({ endMs }) => endMs > round.endMs);
    const tiedTokens = losers.reduce((sum, attempt) => sum + tokensUntil(attempt, round.endMs) - tokensUntil(attempt, round.endMs - 1), 0);
    return { ms: round.endMs, requests: asked.length, tokens, tiedTokens, failed: !round.done };
  };
}

const tokensUntil = ({ startMs, timeline }, ms) => run(timeline, { untilMs: ms - startMs }).tokens;

function playRound({ startMs, ask, stallAfterMs, maxBackups, sources }) {
  const attempts = [ask(startMs, [])];
  let lookedMs = startMs;
  for (;;) {
    const wonMs = Math.min(...attempts.filter(({ done }) => done).map(({ endMs }) => endMs));
    const overMs = Math.min(wonMs, Math.max(...attempts.map(({ endMs }) => endMs)));
    const wantedMs = attempts.length > maxBackups ? Infinity : whenWanted(attempts, { stallAfterMs, lookedMs });
    if (wantedMs >= overMs) return { endMs: overMs, done: wonMs < Infinity };
    const running = attempts.filter(({ endMs }) => endMs > wantedMs);
    // Where every source is asked already the backup is refused, and wanted again at the next occasion.
    if (running.length < sources.length) attempts.push(ask(wantedMs, running));
    lookedMs = wantedMs;
  }
}

/** When the next backup is asked for: the first by the primary alone, once it has begun; a further one by all that still run. */
function whenWanted(attempts, { stallAfterMs, lookedMs }) {
  const silences = attempts.map((attempt) => silencesOf(attempt, stallAfterMs));
  if (attempts.length === 1) return silences[0].find(({ nth, fromMs }) => nth > 0 && fromMs > lookedMs)?.fromMs ?? Infinity;
  const isSilent = (nth, ms) => silences[nth].some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
  const moments = [...silences.flat().map(({ fromMs }) => fromMs), ...attempts.map(({ endMs }) => endMs)];
  return Math.min(...moments.filter((ms) => ms > lookedMs && attempts.every(({ endMs }, nth) => endMs <= ms || isSilent(nth, ms))));
}

function silencesOf({ startMs, timeline: { gaps } }, stallAfterMs) {
  let ms = startMs;
  return gaps.flatMap((gap, nth) => {
    const fromMs = ms + stallAfterMs;
    ms += gap;
    return gap > stallAfterMs ? [{ nth, fromMs, toMs: ms }] : [];
  });
}

function openAttempt(source, startMs, timeline, interTokenTimeoutMs) {
  const limitOf = (nth) => (nth === 0 ? limits.ttftTimeoutMs : interTokenTimeoutMs);
  const fatal = timeline.gaps.findIndex((gap, nth) => gap > limitOf(nth));
  const ms = fatal < 0 ? run(timeline).ms : run({ ...timeline, gaps: timeline.gaps.slice(0, fatal) }).ms + limitOf(fatal);
  return { source, startMs, timeline, done: fatal < 0 && ms <= limits.timeoutMs, endMs: startMs + Math.min(ms, limits.timeoutMs) };
}

const leastTried = (sources, asked) => {
  const tries = (source) => asked.filter((attempt) => attempt.source === source).length;
  return sources.reduce((best, source) => (tries(source) < tries(best) ? source : best));
};
