import type { ReportFigures } from '../../lab/report/reportFigures.js';
import type { WhatIf } from '../../lab/whatif/whatIf.js';
import type { Screen } from '../terminal.js';
import { adviceLines, indented } from '../whatif/adviceLines.js';
import type { AdviceOptions } from '../whatif/adviceLines.js';
import { counted } from './counted.js';
import { headlines } from './headlines.js';
import { silencePlot } from './silencePlot.js';
import { sourcesTable } from './sourcesTable.js';

export interface SummaryOptions {
  readonly figures: ReportFigures;
  /** Absent: not asked for. */
  readonly whatIf: WhatIf | undefined;
  /** Whose settings are recommended. */
  readonly scope: string;
  readonly screen: Pick<Screen, 'columns' | 'isTerminal' | 'paint'>;
}

// A screen of 30 lines, less where the page is and an empty line.
const mostLines = 29;

/** What `polygateway report` prints: what silence cost, where, and which threshold to set; less than a screen. */
export function summaryLines({ figures, whatIf, scope, screen }: SummaryOptions): string[] {
  const markMs = whatIf?.recommendation?.prediction.hedgeStallAfterMs ?? null;
  const [sentences, sources, advice] = [headlines(figures, screen), sourcesTable(figures, screen), whatIf === undefined ? [] : adviceOf({ whatIf, scope, screen })];
  const plotted = silencePlot({ longest: figures.longestSilence, markMs, screen });
  // What fits: with lines between, without, without the plot.
  const spaced = [sentences, sources, plotted, advice].flatMap((section) => (section.length === 0 ? [] : [...section, '']));
  const whole = [...sentences, ...sources, ...plotted, ...advice];
  return [spaced, whole].find(({ length }) => length <= mostLines) ?? [...sentences, ...sources, ...advice];
}

function adviceOf({ whatIf, scope, screen }: AdviceOptions): string[] {
  const { recommendation, warnings } = whatIf;
  const [why] = recommendation === null ? warnings : [];
  const notes = warnings.length === 0 ? '' : ` and ${counted(warnings.length, 'note')}`;
  return [
    ...adviceLines({ whatIf, scope, screen }),
    ...(why === undefined ? [] : indented(why, screen.columns)),
    `Nothing was changed. Other thresholds${notes}: polygateway whatif.`,
  ];
}
