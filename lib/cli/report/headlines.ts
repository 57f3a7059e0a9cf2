import type { ReportFigures, SourceFigures } from '../../lab/report/reportFigures.js';
import type { Screen } from '../terminal.js';
import { counted, grouped } from './counted.js';
import { duration } from './duration.js';
import { percent, shareOf } from './percent.js';
import { printable } from './printable.js';
import { subjectOf } from './subject.js';
import { wrapText } from './wrapText.js';

/** What was read, what silence cost and where, and what hedging did, in sentences. */
export function headlines(figures: ReportFigures, { columns, paint }: Pick<Screen, 'columns' | 'paint'>): string[] {
  const sentences = [...worstSource(figures), ...unmeasured(figures), ...slowCalls(figures), hedging(figures), ...ownFault(figures)];
  return [
    `${counted(figures.overall.attempts, 'attempt')} of ${counted(figures.calls.calls, 'call')}, ${subjectOf(figures)}`,
    paint('bold', silence(figures)),
    ...sentences.flatMap((sentence) => wrapText(sentence, columns)),
  ];
}

function silence({ overall: { measured, measuredMs, stallMs } }: ReportFigures): string {
  if (measured === 0) return 'How much time silence took is not known: no streamed answer of two or more increments was recorded.';
  return `Silence took ${percent(shareOf(stallMs, measuredMs))} of the measured time: ${duration(stallMs)} of ${duration(measuredMs)}.`;
}

function worstSource({ sources, overall: { stallMs } }: ReportFigures): string[] {
  const [worst] = [...sources].sort((a, b) => b.time.stallMs - a.time.stallMs);
  if (worst === undefined || sources.length < 2 || stallMs === 0) return [];
  const part = worst.time.stallMs === stallMs ? 'All' : percent(shareOf(worst.time.stallMs, stallMs));
  return [`${part} of it at ${printable(worst.source)}, where it was ${percent(silentShare(worst))} of the measured time.`];
}

/** Silence in mid-stream as a share of the time of the answers that it was measured in. */
export function silentShare({ time: { stallMs, measuredMs } }: Pick<SourceFigures, 'time'>): number {
  return shareOf(stallMs, measuredMs);
}

function unmeasured({ overall: { cutSilentMs, wholeMs } }: ReportFigures): string[] {
  const parts = [
    ...(cutSilentMs > 0 ? [`at least ${duration(cutSilentMs)} of silence in which streams were cut`] : []),
    ...(wholeMs > 0 ? [`${duration(wholeMs)} of answers in one piece`] : []),
  ];
  return parts.length === 0 ? [] : [`Not in it: ${parts.join('; ')}.`];
}

function slowCalls({ calls: { latency, net } }: ReportFigures): string[] {
  if (latency.p50Ms === null || latency.p95Ms === null) return [];
  const without = net.p95Ms === null ? '' : ` (${duration(net.p95Ms)} without silence)`;
  return [`Answered calls: half took up to ${duration(latency.p50Ms)}, 95 % up to ${duration(latency.p95Ms)}${without}.`];
}

function hedging({ hedges: { calls, started, won, wasted, failed, losers, winnersTokens } }: ReportFigures): string {
  if (started.first_increment + started.stall === 0) return 'Hedging: no backup was started.';
  const tokens = losers.tokensReported + losers.tokensEstimated;
  const cost = winnersTokens > 0 ? `, ${percent(tokens / winnersTokens)} of the winners'` : '';
  return `Hedging: ${counted(calls, 'call')}; backups: ${grouped(won)} won, ${grouped(wasted)} wasted, ${grouped(failed)} failed. Losers took ${counted(tokens, 'token')}${cost}.`;
}

function ownFault({ blocked }: ReportFigures): string[] {
  return blocked === 0 ? [] : [`In ${counted(blocked, 'attempt')} this process was itself blocked for over a second: silence there may be its own.`];
}
