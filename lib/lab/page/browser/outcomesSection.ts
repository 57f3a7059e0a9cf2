import { failedOf } from '../../report/outcomes.js';
import type { OutcomeCounts, ReportFigures } from '../../report/reportFigures.js';
import type { Charts } from './charts.js';
import { paragraph } from './element.js';
import { hedgesFigures } from './hedgesFigures.js';
import { paintLegend } from './paints.js';
import type { Paint } from './paints.js';
import type { Section } from './section.js';
import { stackedRows } from './stackedRows.js';
import type { Row } from './stackedRows.js';
import type { TableOptions } from './table.js';
import { tickPercent } from './timeScale.js';
import { count, counted, percent, ratio } from './words.js';

type Outcome = keyof OutcomeCounts;

const outcomes: readonly (readonly [Outcome, Paint])[] = [
  ['won', { name: 'won', colour: 'output', pattern: 'plain' }],
  ['lost', { name: 'answered, but lost', colour: 'lost', pattern: 'plain' }],
  ['hedge_cancelled', { name: 'lost, and was cancelled', colour: 'lost', pattern: 'rising' }],
  ['caller_cancelled', { name: 'the caller left', colour: 'whole', pattern: 'plain' }],
  ['deadline', { name: 'the call\u2019s deadline', colour: 'whole', pattern: 'dotted' }],
  ['transient', { name: 'failed: transient', colour: 'silence', pattern: 'plain' }],
  ['rate_limited', { name: 'failed: rate limited', colour: 'first-wait', pattern: 'upright' }],
  ['source', { name: 'failed: the source', colour: 'cut', pattern: 'crossed' }],
  ['request', { name: 'failed: the request', colour: 'cut', pattern: 'falling' }],
];

export const outcomePaints: readonly Paint[] = outcomes.map(([, paint]) => paint);

export function outcomesSection(figures: ReportFigures, charts: Charts): Section {
  const rows = [...(figures.sources.length > 1 ? [{ source: 'all sources', outcomes: figures.outcomes }] : []), ...figures.sources];
  const seen = outcomes.filter(([outcome]) => figures.outcomes[outcome] > 0);
  const beside = seen.filter(([outcome]) => outcome !== 'won');
  const numbersOf = (caption: string, kinds: typeof outcomes): TableOptions => ({
    caption,
    head: ['source', 'attempts', ...kinds.map(([, { name }]) => name)],
    rows: rows.map((row) => [row.source, count(total(row.outcomes)), ...kinds.map(([outcome]) => count(row.outcomes[outcome]))]),
  });
  const rowOf = (kinds: typeof outcomes) => (row: (typeof rows)[number]): Row => ({
    label: row.source,
    note: counted(total(row.outcomes), 'attempt'),
    parts: kinds.map(([outcome, paint]) => ({ paint, value: ratio(row.outcomes[outcome], total(row.outcomes)) ?? 0 })),
  });
  return {
    id: 'outcomes',
    short: 'Outcomes and hedges',
    title: titleOf(figures),
    children: [
      charts.figure({
        label: 'Stacked bars: shares of each source\u2019s attempts by how they ended',
        caption: 'How attempts ended, as shares of each source\u2019s attempts.',
        legend: paintLegend(seen.map(([, paint]) => paint)),
        draw: (width) => stackedRows({ width, rows: rows.map(rowOf(seen)), until: 1, ticks: [0, 0.25, 0.5, 0.75, 1], axis: 'share of attempts', format: percent, tickFormat: tickPercent }),
        numbers: numbersOf('Attempts by how they ended', seen),
      }),
      ...(beside.length === 0
        ? []
        : [
            charts.figure({
              label: 'Stacked bars: shares of each source\u2019s attempts that did not win, by how they ended',
              caption: 'The same without the winners, so that the rare ends can be seen; mind the axis.',
              legend: paintLegend(beside.map(([, paint]) => paint)),
              draw: (width) => stackedRows({ width, rows: rows.map(rowOf(beside)), axis: 'share of attempts', format: percent, tickFormat: tickPercent }),
              numbers: numbersOf('Attempts that did not win', beside),
            }),
          ]),
      ...hedgesFigures(figures, charts),
      ...(figures.blocked > 0 ? [paragraph(`During ${counted(figures.blocked, 'attempt')} this side\u2019s own process stood still for longer than a second: their silence may be its own, not the source\u2019s.`, { class: 'note' })] : []),
    ],
  };
}

const total = (counts: OutcomeCounts): number => outcomes.reduce((sum, [outcome]) => sum + counts[outcome], 0);


function titleOf({ outcomes: counts, hedges }: ReportFigures): string {
  const won = `${percent(ratio(counts.won, total(counts)))} of attempts won, ${percent(ratio(failedOf(counts), total(counts)))} failed`;
  const backups = hedges.started.first_increment + hedges.started.stall;
  return backups === 0 ? `${won}; no backup was started` : `${won}; ${count(hedges.won)} of ${counted(backups, 'backup')} won`;
}
