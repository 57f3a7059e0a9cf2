export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ParsedMetrics {
  readonly samples: readonly ParsedSample[];
  /** The value of the series with exactly these labels. */
  valueOf(this: void, name: string, labels: Readonly<Record<string, string>>): number | undefined;
}

const help = /^# HELP ([a-zA-Z_:][\w:]*) ((?:[^\\\n]|\\\\|\\n)*)$/;
const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/;
const sample = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (NaN|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

/**
 * Reads the text format of Prometheus, 0.0.4, as strictly as it is written here: families one after the other, each with
 * HELP and TYPE before its samples, no series twice, counters named `_total`, histograms whole and growing.
 */
export function parsePrometheus(text: string): ParsedMetrics {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const samples: ParsedSample[] = [];
  const types = new Map<string, string>();
  const series = new Set<string>();
  let family = '';
  let helped = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, helpName] = help.exec(line) ?? [];
    const [, typeName, kind] = type.exec(line) ?? [];
    if (helpName !== undefined) helped = helpName;
    else if (typeName !== undefined) {
      if (helped !== typeName || types.has(typeName)) throw new Error(`TYPE without its HELP, or again: ${line}`);
      if ((kind === 'counter') !== typeName.endsWith('_total')) throw new Error(`only counters are named _total: ${line}`);
      types.set((family = typeName), kind!);
    } else samples.push(sampleOf(line));
    const last = samples.at(-1);
    if (helpName === undefined && typeName === undefined && last !== undefined) {
      const isHistogram = types.get(family) === 'histogram';
      if (isHistogram ? !new RegExp(`^${family}_(bucket|sum|count)$`).test(last.name) : last.name !== family) throw new Error(`outside of its family ${family}: ${line}`);
      if (series.size === series.add(keyOf(last)).size) throw new Error(`twice: ${line}`);
    }
  }
  for (const [name, kind] of types) if (kind === 'histogram') checkHistogram(name, samples);
  return { samples, valueOf: (name, labels) => samples.find((one) => keyOf(one) === keyOf({ name, labels }))?.value };
}

function sampleOf(line: string): ParsedSample {
  const [, name, labels = '', value] = sample.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`no line of the format: ${line}`);
  const entries = [...labels.matchAll(label)].map(([, key, escaped]) => [key!, unescaped(escaped!)] as const);
  if (new Set(entries.map(([key]) => key)).size !== entries.length) throw new Error(`a label twice: ${line}`);
  return { name, labels: Object.fromEntries(entries), value: value.endsWith('Inf') ? (value.startsWith('-') ? -Infinity : Infinity) : Number(value) };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_all, char: string) => (char === 'n' ? '\n' : char));
}

function keyOf({ name, labels }: Pick<ParsedSample, 'name' | 'labels'>): string {
  return JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Of each series: the bounds and the counts grow, the last bucket is +Inf, and is the count. */
function checkHistogram(name: string, samples: readonly ParsedSample[]): void {
  const without = (labels: Readonly<Record<string, string>>): string => keyOf({ name, labels: { ...labels, le: '' } });
  for (const count of samples.filter((one) => one.name === `${name}_count`)) {
    const buckets = samples.filter((one) => one.name === `${name}_bucket` && without(one.labels) === without(count.labels));
    const bounds = buckets.map(({ labels }) => (labels['le'] === '+Inf' ? Infinity : Number(labels['le'])));
    const grows = (values: readonly number[], strictly: boolean): boolean => values.every((value, at) => at === 0 || (strictly ? value > values[at - 1]! : value >= values[at - 1]!));
    if (!grows(bounds, true) || !grows(buckets.map(({ value }) => value), false)) throw new Error(`buckets of ${name} do not grow`);
    if (bounds.at(-1) !== Infinity || buckets.at(-1)!.value !== count.value) throw new Error(`the last bucket of ${name} is not its count`);
    if (!samples.some((one) => one.name === `${name}_sum` && without(one.labels) === without(count.labels))) throw new Error(`${name} has no sum`);
  }
}
