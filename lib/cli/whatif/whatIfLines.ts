import type { WhatIf } from '../../lab/whatif/whatIf.js';
import { counted, grouped } from '../report/counted.js';
import { duration } from '../../lab/report/duration.js';
import { percent } from '../report/percent.js';
import { wrapText } from '../report/wrapText.js';
import type { Screen } from '../terminal.js';
import { adviceLines } from './adviceLines.js';
import { costPlot } from './costPlot.js';
import { predictionTable } from './predictionTable.js';

export interface WhatIfLinesOptions {
  readonly whatIf: WhatIf;
  /** What was read, in words. */
  readonly subject: string;
  /** Whose settings are recommended. */
  readonly scope: string;
  readonly screen: Pick<Screen, 'columns' | 'isTerminal' | 'paint'>;
}

export const method = 'Method and assumptions: docs/what-if.md.';

/** What `polygateway whatif` prints. */
export function whatIfLines({ whatIf, subject, scope, screen }: WhatIfLinesOptions): string[] {
  return sections({ whatIf, subject, scope, screen })
    .filter((section) => section.length > 0)
    .flatMap((section, at) => (at === 0 ? section : ['', ...section]));
}

function sections({ whatIf, subject, scope, screen }: WhatIfLinesOptions): string[][] {
  const { stall, first } = whatIf;
  return [
    headLines({ whatIf, subject, screen }),
    stall.length === 0 ? [] : predictionTable({ title: 'silence', kind: 'hedgeStallAfterMs', predictions: stall, whatIf, screen }).split('\n'),
    first.length === 0 ? [] : predictionTable({ title: 'first', kind: 'hedgeAfterMs', predictions: first, whatIf, screen }).split('\n'),
    costPlot(whatIf, screen),
    adviceLines({ whatIf, scope, screen }),
    warningLines(whatIf, screen),
  ];
}

function headLines({ whatIf, subject, screen: { paint } }: Pick<WhatIfLinesOptions, 'whatIf' | 'subject' | 'screen'>): string[] {
  const { calls, attempts, sampledCalls, seed, resamples, confidence, observed } = whatIf;
  const from = sampledCalls === calls ? 'all of them' : grouped(sampledCalls);
  return [
    `${paint('bold', 'What other thresholds would have done')}: ${counted(calls, 'call')}, ${counted(attempts, 'attempt')}, ${subject}`,
    `Predicted from ${from}; ${counted(resamples, 'resample')}, seed ${seed}; bands hold ${percent(confidence)} of them.`,
    `As it was: p50 ${duration(observed.p50Ms)}, p90 ${duration(observed.p90Ms)}, p95 ${duration(observed.p95Ms)}, p99 ${duration(observed.p99Ms)}; ${percent(observed.hedgedShare)} hedged, ${percent(observed.failedShare)} failed.`,
    'Which calls would have been hedged is counted, all else is predicted.',
    `Nothing was changed: whether to set a threshold is yours to decide. ${method}`,
  ];
}

function warningLines({ warnings }: WhatIf, { columns, paint }: Pick<Screen, 'columns' | 'paint'>): string[] {
  return warnings.flatMap((warning) => {
    const [first = '', ...others] = wrapText(warning, Math.min(columns, 100) - 5);
    return [`${paint('yellow', 'note')} ${first}`, ...others.map((line) => `     ${line}`)];
  });
}
