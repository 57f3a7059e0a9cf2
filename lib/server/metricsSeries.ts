import type { Labels, MetricFamily, Sample } from './prometheusText.js';

/** One metric that is counted here; its series appear with their first value. */
export interface Series {
  /** To a counter an amount, to a histogram one observed value. */
  add(this: void, labels: Labels, value: number): void;
  family(this: void): MetricFamily;
}

export interface SeriesOptions {
  readonly name: string;
  readonly help: string;
}

export function createCounter({ name, help }: SeriesOptions): Series {
  const byLabels = new Map<string, { labels: Labels; value: number }>();
  return {
    add(labels, value) {
      findOrAdd(byLabels, labels, () => ({ labels, value: 0 })).value += value;
    },
    family: () => ({ name, help, type: 'counter', samples: [...byLabels.values()] }),
  };
}

export function createHistogram({ name, help, bounds }: SeriesOptions & { readonly bounds: readonly number[] }): Series {
  const byLabels = new Map<string, Distribution>();
  return {
    add(labels, value) {
      const distribution = findOrAdd(byLabels, labels, () => ({ labels, sum: 0, counts: [...bounds, Infinity].map(() => 0) }));
      const bucket = bounds.findIndex((bound) => value <= bound);
      const place = bucket === -1 ? bounds.length : bucket;
      distribution.sum += value;
      distribution.counts[place] = (distribution.counts[place] ?? 0) + 1;
    },
    family: () => ({ name, help, type: 'histogram', samples: [...byLabels.values()].flatMap((distribution) => parts(distribution, bounds)) }),
  };
}

interface Distribution {
  readonly labels: Labels;
  sum: number;
  /** One for each bound, and one for what is above all. */
  readonly counts: number[];
}

/** Buckets are cumulative in the text. */
function parts({ labels, sum, counts }: Distribution, bounds: readonly number[]): Sample[] {
  let total = 0;
  const buckets = counts.map((count, place) => {
    total += count;
    const bound = bounds[place];
    return { suffix: '_bucket', labels: { ...labels, le: bound === undefined ? '+Inf' : String(bound) }, value: total };
  });
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
}

function findOrAdd<V>(byLabels: Map<string, V>, labels: Labels, make: () => V): V {
  const key = JSON.stringify(Object.values(labels));
  const known = byLabels.get(key);
  if (known !== undefined) return known;
  const made = make();
  byLabels.set(key, made);
  return made;
}
