import { hash } from 'node:crypto';
import { median } from '../support/statistics.mjs';
import { table } from '../support/table.mjs';

/** What was measured and published of 4,407 successful calls. Silence is a gap of over a second between two deltas. */
export const published = {
  calls: 4_407,
  ttftMedianMs: 1_630,
  ttftOver20SShare: 3 / 4_407,
  slowShare: 0.19, // calls with one silence over 20 s
  slowWallMedianMs: 69_400,
  slowLargestSilenceMedianMs: 54_900,
  silenceShare: 0.713, // of all model time
  silenceToOutputCorrelation: 0.05,
};

/**
 * Published are medians and shares, not distributions. Taken from them alone: `ttft` is the lognormal with that median and that
 * share over 20 s, and the `longSilence` begins at 20 s and has that median. Free to choose: that the shapes are lognormal; the
 * spread of the long silence, taken on the light side, since a heavier tail would make waiting look worse and flatter whoever does
 * not wait; that a third of the other calls have a short silence (log-uniform, 1 to 20 s), without which low thresholds would
 * cost nothing; spread of lengths and pace. Fitted on 100,000 calls: `furtherSilenceMost` to the slow wall median, and the
 * median length to the share of silence. Length has no part in silence: correlation 0, published 0.05.
 */
export const shape = {
  ttft: { medianMs: 1_630, spread: 0.783 },
  longSilence: { fromMs: 20_000, medianBeyondMs: 34_900, spread: 0.8 },
  furtherSilenceMost: 0.3, // a slow call's second silence: uniform, up to this share of its long one
  shortSilence: { share: 1 / 3, fromMs: 1_000, toMs: 20_000 },
  output: { medianDeltas: 10.4, spread: 0.9, leastDeltas: 3 },
  // Sparse: 60 tokens/s in few deltas. Only gaps of seconds matter to any contestant.
  pace: { medianMs: 300, spread: 0.2, tokensPerDelta: 18 },
};

/**
 * Calls whose fate at each source is a pure function of seed, call, source and the how-manieth attempt there, so that every
 * contestant meets the same. Attempts are independent of each other, which is an assumption; `correlation` is the share of the slow
 * calls (0 to 1) that are slow at every source and every time. The share of slow attempts is the same with any.
 *
 * A timeline's `gaps` are the ms before each delta, the first being the time to the first one; it is complete with its last delta.
 */
export function openWorkload({ seed, sources = ['a', 'b'], correlation = 0, from = 0 }) {
  let id = from;
  return {
    sources,
    next() {
      const call = openCall({ seed, id, correlation });
      id += 1;
      return call;
    },
  };
}

function openCall({ seed, id, correlation }) {
  const draw = uniforms(`${seed}/${id}`);
  const deltas = Math.max(shape.output.leastDeltas, Math.ceil(shape.output.medianDeltas * Math.exp(shape.output.spread * normal(draw))));
  const slowEverywhere = draw() < correlation * published.slowShare;
  const slowHere = slowEverywhere ? 1 : (published.slowShare * (1 - correlation)) / (1 - correlation * published.slowShare);
  return {
    id,
    tokens: deltas * shape.pace.tokensPerDelta,
    attempts: (source, nth) => timeline({ deltas, slowHere, draw: uniforms(`${seed}/${id}/${source}/${nth}`) }),
  };
}

function timeline({ deltas, slowHere, draw }) {
  const ttftMs = lognormal(draw, shape.ttft.medianMs, shape.ttft.spread);
  const paceMs = lognormal(draw, shape.pace.medianMs, shape.pace.spread);
  const gaps = [ttftMs, ...new Array(deltas - 1).fill(paceMs)];
  const silences = draw() < slowHere ? longSilences(draw) : shortSilences(draw);
  const at = Math.floor(draw() * (deltas - 1));
  // Side by side, since an answer of three deltas has room for no more.
  silences.forEach((silenceMs, nth) => { gaps[1 + ((at + nth) % (deltas - 1))] = silenceMs; });
  return { gaps: gaps.map((ms) => Math.round(ms)), tokensPerDelta: shape.pace.tokensPerDelta };
}

function longSilences(draw) {
  const { fromMs, medianBeyondMs, spread } = shape.longSilence;
  const longMs = fromMs + lognormal(draw, medianBeyondMs, spread);
  return [longMs, longMs * shape.furtherSilenceMost * draw()];
}

function shortSilences(draw) {
  const { share, fromMs, toMs } = shape.shortSilence;
  return draw() < share ? [fromMs * (toMs / fromMs) ** draw()] : [];
}

/** Sixteen numbers from 0 to below 1, the same for the same name; sha512 because it is even and needs no state. */
function uniforms(name) {
  const bytes = hash('sha512', name, 'buffer');
  let offset = 0;
  return () => {
    const value = bytes.readUInt32LE(offset) / 2 ** 32;
    offset += 4;
    return value;
  };
}

const normal = (draw) => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
const lognormal = (draw, median, spread) => median * Math.exp(spread * normal(draw));

/** What was drawn beside what was published, for the first attempt of each call at one source. */
export function check(calls, source = 'a') {
  const attempts = calls.map((call) => ({ tokens: call.tokens, ...figuresOf(call.attempts(source, 1)) }));
  const slow = attempts.filter(({ largestMs }) => largestMs > 20_000);
  const sum = (of) => attempts.reduce((total, attempt) => total + of(attempt), 0);
  const seconds = (ms) => (ms / 1000).toFixed(2);
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  return table(['figure', 'published', 'drawn'], [
    ['time to the first delta, median, s', seconds(published.ttftMedianMs), seconds(median(attempts.map(({ ttftMs }) => ttftMs)))],
    ['… over 20 s, of 4,407 calls', 3, (sum(({ ttftMs }) => Number(ttftMs > 20_000)) / attempts.length) * published.calls],
    ['calls with a silence over 20 s', percent(published.slowShare), percent(slow.length / attempts.length)],
    ['… of these: call time, median, s', seconds(published.slowWallMedianMs), seconds(median(slow.map(({ wallMs }) => wallMs)))],
    ['… of these: largest silence, median, s', seconds(published.slowLargestSilenceMedianMs), seconds(median(slow.map(({ largestMs }) => largestMs)))],
    ['silence, of all model time', percent(published.silenceShare), percent(sum(({ silenceMs }) => silenceMs) / sum(({ wallMs }) => wallMs))],
    ['correlation of silence and output', published.silenceToOutputCorrelation, correlationOf(attempts.map(({ silenceMs, tokens }) => [silenceMs, tokens])).toFixed(3)],
  ]);
}

function figuresOf({ gaps: [ttftMs, ...between] }) {
  const total = (gaps) => gaps.reduce((sum, ms) => sum + ms, 0);
  return { ttftMs, wallMs: ttftMs + total(between), silenceMs: total(between.filter((ms) => ms > 1000)), largestMs: Math.max(...between) };
}

function correlationOf(pairs) {
  const mean = (of) => pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  const [x, y] = [mean(([a]) => a), mean(([, b]) => b)];
  const covariance = (i, j) => mean((pair) => (pair[i] - [x, y][i]) * (pair[j] - [x, y][j]));
  return covariance(0, 1) / Math.sqrt(covariance(0, 0) * covariance(1, 1));
}
