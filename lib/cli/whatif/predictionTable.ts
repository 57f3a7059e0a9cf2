import type { Band, Prediction, Thresholds, WhatIf } from '../../lab/whatif/whatIf.js';
import { percent } from '../report/percent.js';
import { table } from '../table.js';
import type { Screen } from '../terminal.js';

export interface PredictionTableOptions {
  readonly title: string;
  readonly kind: keyof Thresholds;
  readonly predictions: readonly Prediction[];
  readonly whatIf: WhatIf;
  readonly screen: Pick<Screen, 'columns' | 'isTerminal' | 'paint'>;
}

const wideColumns = 140;

interface Column {
  readonly head: string;
  readonly unhedged: string;
  readonly cell: (prediction: Prediction) => string;
}

/** A row for each threshold, the unhedged calls first. In a narrow terminal bands stand below their values, and one cost is left out. */
export function predictionTable({ title, kind, predictions, whatIf, screen }: PredictionTableOptions): string {
  const wide = !screen.isTerminal || screen.columns >= wideColumns;
  const columns: Column[] = [
    { head: title, unhedged: 'off', cell: (prediction) => `${(prediction[kind] ?? 0) / 1000} s` },
    { head: 'hedged', unhedged: '0 %', cell: ({ hedgedShare }) => percent(hedgedShare) },
    ...figureColumns(whatIf, wide),
  ];
  return table({
    head: columns.map(({ head }) => head),
    rows: [columns.map(({ unhedged }) => unhedged), ...predictions.map((prediction) => columns.map(({ cell }) => cell(prediction)))],
    figures: columns.map((_, at) => at),
    paint: screen.paint,
  });
}

function figureColumns({ unhedged, maxExtraOf }: WhatIf, wide: boolean): Column[] {
  const seconds = (band: Band): string => bandCell(band, wide, secondsText);
  const shares = (band: Band | null): string => (band === null ? 'unknown' : bandCell(band, wide, shareText));
  const percentile = (head: string, name: keyof WhatIf['unhedged']): Column => ({ head, unhedged: seconds(unhedged[name]), cell: ({ latency }) => seconds(latency[name]) });
  const tokens: Column = { head: '+tokens', unhedged: '', cell: ({ extraTokensShare }) => shares(extraTokensShare) };
  const requests: Column = { head: '+requests', unhedged: '', cell: ({ extraRequestsShare }) => shares(extraRequestsShare) };
  return [
    percentile('p50 s', 'p50Ms'),
    percentile('p90 s', 'p90Ms'),
    percentile('p95 s', 'p95Ms'),
    percentile('p99 s', 'p99Ms'),
    { head: 'saved s', unhedged: '', cell: ({ savedMsPerCall }) => seconds(savedMsPerCall) },
    ...(wide ? [tokens, requests] : [maxExtraOf === 'tokens' ? tokens : requests]),
  ];
}

function bandCell({ value, low, high }: Band, wide: boolean, text: (figure: number) => string): string {
  return wide ? `${text(value)} (${text(low)}-${text(high)})` : `${text(value)}\n${text(low)}-${text(high)}`;
}

/** `0.85`, `5.2`, `41`, `126`. */
function secondsText(ms: number): string {
  const seconds = ms / 1000;
  const size = Math.abs(seconds);
  return String(Number(seconds.toFixed(size < 0.995 ? 2 : size < 9.95 ? 1 : 0)));
}

function shareText(share: number): string {
  return percent(share).replace(' %', '%');
}
