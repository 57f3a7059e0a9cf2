import type { ReportFigures } from '../../report/reportFigures.js';
import { allLook, lookOf, mostSeries } from './series.js';
import type { Series } from './series.js';
import { counted } from './words.js';

/** The lines of a figure that every source has, and a sentence on those that got none. */
export function seriesOf(figures: ReportFigures, key: 'ttft' | 'longestSilence'): { readonly series: readonly Series[]; readonly left: string } {
  const known = figures.sources.filter((source) => source[key].count > 0);
  const shown = known.slice(0, mostSeries);
  const series = shown.map((source) => ({ name: source.source, distribution: source[key], look: lookOf(figures.sources.indexOf(source)) }));
  const all = known.length > 1 ? [{ name: 'all sources', distribution: figures[key], look: allLook }] : [];
  const left = known.length > shown.length ? ` ${counted(known.length - shown.length, 'source')} with less time stand in the numbers alone.` : '';
  return { series: [...series, ...all], left };
}
