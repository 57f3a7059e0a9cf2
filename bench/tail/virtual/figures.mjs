import { quantile } from '../../support/statistics.mjs';

const percent = (share) => `${(share * 100).toFixed(1)} %`;
const sum = (outcomes, field) => outcomes.reduce((total, outcome) => total + Number(outcome[field]), 0);

/** What is kept of a contestant's calls; `delivered` is the number of tokens that callers got. */
export function figuresOf(outcomes, delivered) {
  const ms = Float64Array.from(outcomes, (outcome) => outcome.ms).sort();
  return {
    ms,
    p50: quantile(ms, 0.5), p90: quantile(ms, 0.9), p95: quantile(ms, 0.95), p99: quantile(ms, 0.99),
    mean: sum(outcomes, 'ms') / ms.length,
    extraRequests: sum(outcomes, 'requests') / ms.length - 1,
    extraTokens: sum(outcomes, 'tokens') / delivered - 1,
    failed: sum(outcomes, 'failed'),
  };
}

export const head = ['policy', 'p50 s', 'p90 s', 'p95 s', 'p99 s', 'mean s', 'mean to waiting', 'p99 to waiting', 'time saved', 'extra requests per 100 calls', 'extra tokens', 'failed calls'];

export function row(name, figures, wait) {
  const seconds = [figures.p50, figures.p90, figures.p95, figures.p99, figures.mean].map((ms) => (ms / 1000).toFixed(1));
  const ratio = (field) => (figures[field] / wait[field]).toFixed(2);
  return [name, ...seconds, ratio('mean'), ratio('p99'), percent(1 - figures.mean / wait.mean), (figures.extraRequests * 100).toFixed(1), percent(figures.extraTokens), figures.failed];
}

/** Share of the calls that take longer than so many seconds, at points that are close together in the tail. */
export function survival({ ms }) {
  const steps = 200;
  const rarest = Math.log(ms.length / 10); // Of fewer than ten calls no line should be drawn.
  const shares = Array.from({ length: steps + 1 }, (_, nth) => Math.exp((-rarest * nth) / steps));
  return shares.map((share) => [quantile(ms, 1 - share) / 1000, share]);
}
