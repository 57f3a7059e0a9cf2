import { hedgeSettings } from '../../lab/whatif/hedgeSettings.js';
import type { Prediction, WhatIf } from '../../lab/whatif/whatIf.js';
import { wrapText } from '../report/wrapText.js';
import { duration } from '../../lab/report/duration.js';
import { percent } from '../report/percent.js';
import type { Screen } from '../terminal.js';
import { bandText } from './bandText.js';

const mostColumns = 100;

export interface AdviceOptions {
  readonly whatIf: WhatIf;
  /** Whose settings they are. */
  readonly scope: string;
  readonly screen: Pick<Screen, 'columns' | 'paint'>;
}

/** Which threshold to set, why, and what it is predicted to bring and to cost. */
export function adviceLines({ whatIf, scope, screen: { columns, paint } }: AdviceOptions): string[] {
  const { recommendation, maxExtra, maxExtraOf } = whatIf;
  if (recommendation === null) return [`${paint('bold', 'No threshold is recommended')} for at most ${percent(maxExtra)} more ${maxExtraOf}.`];
  const { prediction, reason } = recommendation;
  return [
    `Recommended, for at most ${percent(maxExtra)} more ${maxExtraOf}: ${hedgeSettings(prediction, scope).map((line) => paint('green', line)).join(' ')}`,
    ...indented(reason, columns),
    ...indented(outcome(prediction, whatIf), columns),
  ];
}

/** A text below a line that it belongs to. */
export function indented(text: string, columns: number): string[] {
  return wrapText(text, Math.min(columns, mostColumns) - 2).map((line) => `  ${line}`);
}

function outcome(prediction: Prediction, { unhedged }: WhatIf): string {
  const { latency, hedgedShare, savedMsPerCall, extraRequestsShare, extraTokensShare } = prediction;
  const parts = [
    `p99 of a call ${bandText(latency.p99Ms, duration)} instead of ${duration(unhedged.p99Ms.value)}`,
    `${duration(savedMsPerCall.value)} saved a call on average`,
    `${percent(hedgedShare)} of the calls hedged`,
    `${bandText(extraRequestsShare, percent)} more requests`,
    ...(extraTokensShare === null ? ['tokens unknown'] : [`${bandText(extraTokensShare, percent)} more tokens`]),
  ];
  return `Predicted: ${parts.join('; ')}.`;
}
