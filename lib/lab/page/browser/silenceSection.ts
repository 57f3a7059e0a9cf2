import type { Distribution, ReportFigures } from '../../report/reportFigures.js';
import type { Thresholds, WhatIf } from '../../whatif/whatIf.js';
import type { Charts } from './charts.js';
import { distributionHead, distributionPlot, distributionRow } from './distributionPlot.js';
import type { MarkedTime } from './distributionPlot.js';
import { paragraph } from './element.js';
import type { Section } from './section.js';
import { lookOf, seriesLegend } from './series.js';
import { seriesOf } from './seriesOf.js';
import { table } from './table.js';
import { tickTime } from './timeScale.js';
import { count, duration, percent } from './words.js';

export interface SilenceOptions {
  readonly figures: ReportFigures;
  readonly charts: Charts;
  readonly whatIf?: WhatIf | undefined;
  readonly current?: Thresholds | undefined;
}

const asked = [1000, 5000, 10_000, 20_000, 30_000, 60_000];

export function silenceSection({ figures, charts, whatIf, current }: SilenceOptions): Section {
  const { longestSilence, gaps } = figures;
  const { series, left } = seriesOf(figures, 'longestSilence');
  const marked = thresholdsOf(whatIf, current);
  const rows = [{ name: 'all sources', distribution: longestSilence }, ...figures.sources.map(({ source, longestSilence: distribution }) => ({ name: source, distribution }))];
  const base = { id: 'silences', short: 'Silences', title: titleOf(longestSilence) };
  if (longestSilence.count === 0) return { ...base, children: [paragraph('No streamed attempt had begun to speak, so nothing is known of silences in mid-stream.')] };
  return {
    ...base,
    children: [
      charts.figure({
        label: 'Lines per source: share of streams whose longest silence exceeds a time, both on log scales',
        caption: `Read it at a threshold: the height of a line there is the share of that source\u2019s streams with a silence longer than that, at which a backup would have been asked for.${marked.length > 0 ? ' Dashed uprights are thresholds.' : ''} Signs stand at p50, p90, p95 and p99.${left}`,
        legend: seriesLegend(series),
        draw: (width) => distributionPlot({ width, series, share: 'above', of: 'streams', axis: 'longest silence in mid-stream', marked }),
        numbers: { caption: 'Longest silence of each stream', head: distributionHead('source'), rows: rows.map(({ name, distribution }) => distributionRow(name, distribution)) },
      }),
      table({ caption: 'Streams with a silence longer than', head: ['longer than', ...asked.map(tickTime)], rows: rows.map(({ name, distribution }) => [name, ...asked.map((ms) => percent(shareAbove(distribution, ms)))]) }),
      ...(gaps.count === 0
        ? []
        : [
            charts.figure({
              label: 'Line: share of recorded silences in mid-stream at or below a time, on a log scale',
              caption: `All ${count(gaps.count)} recorded silences in mid-stream: half were at most ${duration(gaps.p50Ms)}, one in a hundred longer than ${duration(gaps.p99Ms)}. Only silences longer than every one before them in their stream are recorded, so short ones are rarer here than in life.`,
              draw: (width) => distributionPlot({ width, series: [{ name: 'recorded silences', distribution: gaps, look: lookOf(0) }], share: 'below', of: 'silences', axis: 'silence in mid-stream' }),
              numbers: { caption: 'Recorded silences in mid-stream', head: distributionHead('silences'), rows: [distributionRow('recorded silences', gaps)] },
            }),
          ]),
    ],
  };
}

function titleOf({ count: streams, p95Ms, p50Ms }: Distribution): string {
  return streams === 0 ? 'Silences in mid-stream were not measured' : `Of the streams that spoke, 19 in 20 fell silent for at most ${duration(p95Ms)}, half for at most ${duration(p50Ms)}`;
}

/** What is recommended counts for mid-stream alone here. */
function thresholdsOf(whatIf: WhatIf | undefined, current: Thresholds | undefined): MarkedTime[] {
  const now = current?.hedgeStallAfterMs ?? null;
  const then = whatIf?.recommendation?.prediction.hedgeStallAfterMs ?? null;
  if (now !== null && now === then) return [{ atMs: now, text: `now and recommended: ${duration(now)}` }];
  return [
    ...(now === null ? [] : [{ atMs: now, text: `now: ${duration(now)}` }]),
    ...(then === null ? [] : [{ atMs: then, text: `recommended: ${duration(then)}` }]),
  ];
}

function shareAbove({ cdf, count: number }: Distribution, ms: number): number | null {
  if (number === 0) return null;
  return 1 - (cdf.findLast(([value]) => value <= ms)?.[1] ?? 0);
}
