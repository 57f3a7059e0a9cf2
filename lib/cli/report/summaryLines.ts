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
  const whole = spaced([sentences, sources, plotted, advice]);
  if (!screen.isTerminal) return whole;
  // What fits: all of it, without the plot, without lines between.
  return [whole, spaced([sentences, sources, advice])].find(({ length }) => length <= mostLines) ?? [...sentences, ...sources, ...advice];
}

function spaced(sections: readonly (readonly string[])[]): string[] {
  return sections.flatMap((section) => (section.length === 0 ? [] : [...section, '']));
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
