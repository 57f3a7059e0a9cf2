import type { HedgeFigures, ReportFigures } from '../../report/reportFigures.js';
import type { Charts } from './charts.js';
import { paragraph } from './element.js';
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

/** `about 1,200 tokens, 4.1 % of what winners used`, or what can be said where some are unknown. */
export function losersCost({ losers: { attempts, tokensReported, tokensEstimated, unknown }, winnersTokens }: HedgeFigures): string {
  const tokens = tokensReported + tokensEstimated;
  const missing = `tokens of ${counted(unknown, 'loser')} unknown`;
  if (unknown === attempts) return missing;
  const share = winnersTokens > 0 ? `, ${percent(tokens / winnersTokens)} of what winners used` : '';
  return `${unknown > 0 ? 'at least' : 'about'} ${counted(tokens, 'token')}${share}${unknown > 0 ? ` (${missing})` : ''}`;
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
    legend: paintLegend(seenIn([...ends, ...triggers])),
    draw: (width) => stackedRows({ width, rows, axis: 'backups', format: count, ...wholeTicks(Math.max(won + wasted + failed, started.first_increment + started.stall)) }),
    numbers: { caption: 'Backups', head: ['backups', 'count'], rows: [...ends, ...triggers].map(({ paint, value }) => [paint.name, count(value)]) },
  });
}

const seenIn = (parts: readonly Part[]): Paint[] => parts.flatMap(({ paint, value }) => (value > 0 ? [paint] : []));

/** There is no half backup. */
const wholeTicks = (most: number): { ticks?: readonly number[] } => (most > 5 ? {} : { ticks: Array.from({ length: most + 1 }, (_, index) => index) });

function tokensFigure(hedges: HedgeFigures, charts: Charts): HTMLElement {
  const { losers, winnersTokens } = hedges;
  const caption = `${counted(losers.attempts, 'attempt')} lost against another one of their round: ${duration(losers.wallMs)}; ${losersCost(hedges)}.`;
  const tokens = losers.tokensReported + losers.tokensEstimated;
  if (tokens + winnersTokens === 0) return paragraph(caption);
  const lost: Part[] = [{ paint: paints.reported, value: losers.tokensReported }, { paint: paints.estimated, value: losers.tokensEstimated }];
  const rows = [
    { label: 'losers', note: losers.unknown === losers.attempts ? 'tokens unknown' : `${losers.unknown > 0 ? 'at least ' : ''}${counted(tokens, 'token')}`, parts: lost },
    { label: 'winners', note: counted(winnersTokens, 'token'), parts: [{ paint: paints.winners, value: winnersTokens }] },
  ];
  return charts.figure({
    label: 'Bars: tokens of attempts that lost, reported and estimated, beside the tokens of winners',
    caption,
    legend: paintLegend(seenIn(rows.flatMap(({ parts }) => parts))),
    draw: (width) => stackedRows({ width, rows, axis: 'tokens', format: count }),
    numbers: {
      caption: 'Tokens of losers and winners',
      head: ['tokens', 'count'],
      rows: [['losers, reported', count(losers.tokensReported)], ['losers, estimated', count(losers.tokensEstimated)], ['losers whose tokens are unknown (attempts)', count(losers.unknown)], ['winners, reported', count(winnersTokens)]],
    },
  });
}
