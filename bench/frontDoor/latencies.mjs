const stepMs = 0.02;
const steps = 100_000;

/** A histogram of times in steps of 20 us up to 2 s; what is over counts as that. */
export function createLatencies() {
  let counts = new Uint32Array(steps);
  return {
    add(ms) {
      counts[Math.max(0, Math.min(steps - 1, Math.floor(ms / stepMs)))] += 1;
    },
    /** What has come since the last time, as pairs of step and count. */
    take() {
      const pairs = [];
      counts.forEach((count, step) => count > 0 && pairs.push([step, count]));
      counts = new Uint32Array(steps);
      return pairs;
    },
  };
}

/** Quantiles, in milliseconds, of what several histograms took together. */
export function figuresOf(taken) {
  const counts = new Map();
  for (const [step, count] of taken.flat()) counts.set(step, (counts.get(step) ?? 0) + count);
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const quantile = (share) => {
    let left = Math.max(1, Math.ceil(share * total));
    const [step] = sorted.find(([, count]) => (left -= count) <= 0) ?? [NaN];
    return (step + 1) * stepMs;
  };
  return { min: quantile(0), p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), p999: quantile(0.999), max: quantile(1), count: total };
}
