import type { HedgeFigures, ReportFigures } from '../../report/reportFigures.js';
import type { Charts } from './charts.js';
import { paintLegend } from './paints.js';
import type { Paint } from './paints.js';
import { stackedRows } from './stackedRows.js';
import type { Part } from './timeParts.js';
import { count, counted, duration, percent, ratio } from './words.js';

const paints = {
  won: { name: 'won', colour: 'output', pattern: 'plain' },
  wasted: { name: 'wasted', colour: 'lost', pattern: 'rising' },
  failed: { name: 'failed', colour: 'silence', pattern: 'crossed' },
  first: { name: 'for want of first words', colour: 'first-wait', pattern: 'dotted' },
  stall: { name: 'for silence in mid-stream', colour: 'silence', pattern: 'rising' },
  reported: { name: 'reported by the source', colour: 'lost', pattern: 'plain' },
  estimated: { name: 'estimated', colour: 'lost', pattern: 'dotted' },
  winners: { name: 'winners, reported', colour: 'output', pattern: 'plain' },
} satisfies Record<string, Paint>;

export const hedgePaints: readonly Paint[] = Object.values(paints);

export function hedgesFigures({ hedges, calls }: ReportFigures, charts: Charts): HTMLElement[] {
  const backups = hedges.started.first_increment + hedges.started.stall;
  return [...(backups > 0 ? [backupsFigure(hedges, calls.calls, charts)] : []), ...(hedges.losers.attempts > 0 ? [tokensFigure(hedges, charts)] : [])];
}

function backupsFigure({ calls, started, won, wasted, failed }: HedgeFigures, allCalls: number, charts: Charts): HTMLElement {
  const ends: Part[] = [{ paint: paints.won, value: won }, { paint: paints.wasted, value: wasted }, { paint: paints.failed, value: failed }];
  const triggers: Part[] = [{ paint: paints.first, value: started.first_increment }, { paint: paints.stall, value: started.stall }];
  const rows = [
    { label: 'by how they ended', note: counted(won + wasted + failed, 'backup'), parts: ends },
    { label: 'by what they were started for', note: counted(started.first_increment + started.stall, 'backup'), parts: triggers },
  ];
  return charts.figure({
    label: 'Two stacked bars: backups by how they ended and by what they were started for',
    caption: `${counted(calls, 'call')} of ${count(allCalls)} (${percent(ratio(calls, allCalls))}) had a backup. One that won was worth its cost; a wasted one was beaten by the attempt it was to replace, or by another backup.`,
    legend: paintLegend([...ends, ...triggers].map(({ paint }) => paint)),
    draw: (width) => stackedRows({ width, rows, axis: 'backups', format: count, ...wholeTicks(Math.max(won + wasted + failed, started.first_increment + started.stall)) }),
    numbers: { caption: 'Backups', head: ['backups', 'count'], rows: [...ends, ...triggers].map(({ paint, value }) => [paint.name, count(value)]) },
  });
}

/** There is no half backup. */
const wholeTicks = (most: number): { ticks?: readonly number[] } => (most > 5 ? {} : { ticks: Array.from({ length: most + 1 }, (_, index) => index) });

function tokensFigure({ losers, winnersTokens }: HedgeFigures, charts: Charts): HTMLElement {
  const tokens = losers.tokensReported + losers.tokensEstimated;
  const lost: Part[] = [{ paint: paints.reported, value: losers.tokensReported }, { paint: paints.estimated, value: losers.tokensEstimated }];
  const rows = [
    { label: 'losers', note: `${count(tokens)} tokens`, parts: lost },
    { label: 'winners', note: `${count(winnersTokens)} tokens`, parts: [{ paint: paints.winners, value: winnersTokens }] },
  ];
  const unknown = losers.unknown > 0 ? ` Of ${count(losers.unknown)} of them nothing is known, so the cost is higher.` : '';
  return charts.figure({
    label: 'Bars: tokens of attempts that lost, reported and estimated, beside the tokens of winners',
    caption: `${counted(losers.attempts, 'attempt')} lost against another one of their round: ${duration(losers.wallMs)} and about ${count(tokens)} tokens${winnersTokens > 0 ? `, ${percent(tokens / winnersTokens)} of what winners used` : ''}.${unknown}`,
    legend: paintLegend([paints.reported, paints.estimated, paints.winners]),
    draw: (width) => stackedRows({ width, rows, axis: 'tokens', format: count }),
    numbers: {
      caption: 'Tokens of losers and winners',
      head: ['tokens', 'count'],
      rows: [['losers, reported', count(losers.tokensReported)], ['losers, estimated', count(losers.tokensEstimated)], ['losers of which nothing is known (attempts)', count(losers.unknown)], ['winners, reported', count(winnersTokens)]],
    },
  });
}
