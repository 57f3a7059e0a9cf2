import type { Band, Prediction, WhatIf } from '../../lab/whatif/whatIf.js';
import type { CsvCell, CsvTable } from './csvText.js';

const bands = {
  p50_ms: ({ latency }) => latency.p50Ms,
  p90_ms: ({ latency }) => latency.p90Ms,
  p95_ms: ({ latency }) => latency.p95Ms,
  p99_ms: ({ latency }) => latency.p99Ms,
  saved_ms_per_call: ({ savedMsPerCall }) => savedMsPerCall,
  saved_share: ({ savedShare }) => savedShare,
  failed_share: ({ failedShare }) => failedShare,
  extra_tokens_per_call: ({ extraTokensPerCall }) => extraTokensPerCall,
  extra_tokens_share: ({ extraTokensShare }) => extraTokensShare,
  extra_requests_share: ({ extraRequestsShare }) => extraRequestsShare,
} as const satisfies Record<string, (prediction: Prediction) => Band | null>;

/** A row for each prediction, the recommended one last. */
export function csvWhatIf(whatIf: WhatIf | undefined): CsvTable {
  const of: [string, readonly Prediction[]][] = whatIf === undefined ? [] : [['stall', whatIf.stall], ['first', whatIf.first], ['recommended', recommended(whatIf)]];
  return {
    head: ['kind', 'hedge_after_ms', 'hedge_stall_after_ms', 'hedged_calls', 'hedged_share', 'imputed_share', ...Object.keys(bands).flatMap((name) => [name, `${name}_low`, `${name}_high`])],
    rows: of.flatMap(([kind, predictions]) => predictions.map((prediction) => [kind, ...predictionCells(prediction)])),
  };
}

function predictionCells(prediction: Prediction): CsvCell[] {
  const { hedgeAfterMs, hedgeStallAfterMs, hedgedCalls, hedgedShare, imputedShare } = prediction;
  const cells = Object.values(bands).flatMap((bandOf): CsvCell[] => {
    const band = bandOf(prediction);
    return band === null ? [null, null, null] : [band.value, band.low, band.high];
  });
  return [hedgeAfterMs, hedgeStallAfterMs, hedgedCalls, hedgedShare, imputedShare, ...cells];
}

function recommended({ recommendation }: WhatIf): Prediction[] {
  return recommendation === null ? [] : [recommendation.prediction];
}
