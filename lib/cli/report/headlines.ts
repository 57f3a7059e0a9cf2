import type { ReportFigures, SourceFigures } from '../../lab/report/reportFigures.js';
import { failedOf } from '../../lab/report/outcomes.js';
import { knownSilenceMs } from '../../lab/report/timeSplit.js';
import type { Screen } from '../terminal.js';
import { counted, grouped } from './counted.js';
import { duration } from '../../lab/report/duration.js';
import { percent, shareOf } from './percent.js';
import { printable } from './printable.js';
import { subjectOf } from './subject.js';
import { wrapText } from './wrapText.js';

/** What was read, what silence cost and where, and what hedging did, in sentences. */
export function headlines(figures: ReportFigures, { columns, paint }: Pick<Screen, 'columns' | 'paint'>): string[] {
  const sentences = [...worstSource(figures), ...unmeasured(figures), ...slowCalls(figures), ...failures(figures), hedging(figures), ...ownFault(figures)];
  return [
    `${counted(figures.overall.attempts, 'attempt')} of ${counted(figures.calls.calls, 'call')}, ${subjectOf(figures)}`,
    paint('bold', silence(figures)),
    ...sentences.flatMap((sentence) => wrapText(sentence, columns)),
  ];
}

function silence({ overall: { measured, measuredMs, stallMs } }: ReportFigures): string {
  if (measured === 0) return 'How much time silence took is not known: no answered stream with figures of its silence was recorded.';
  return `Silence took ${percent(shareOf(stallMs, measuredMs))} of the measured time: ${duration(stallMs)} of ${duration(measuredMs)}.`;
}

function worstSource({ sources, overall }: ReportFigures): string[] {
  const [worst] = mostSilentFirst(sources);
  const allMs = knownSilenceMs(overall);
  if (worst === undefined || sources.length < 2 || allMs === 0) return [];
  const { time, source } = worst;
  const whole = overall.cutSilentMs > 0 ? 'all known silence' : 'it';
  const part = knownSilenceMs(time) < allMs ? `${percent(shareOf(knownSilenceMs(time), allMs))} of ${whole}` : whole === 'it' ? 'All of it' : 'All known silence';
  const measured = time.measuredMs > 0 ? `, where it was ${percent(silentShare(worst))} of the measured time` : '';
  return [`${part} at ${printable(source)}${measured}${time.cutSilentMs > 0 ? `; ${duration(time.cutSilentMs)} of it cut a stream off` : ''}.`];
}

/** By all silence that is known: where hedges cut it, none is measured. */
export function mostSilentFirst(sources: readonly SourceFigures[]): SourceFigures[] {
  return [...sources].sort((a, b) => knownSilenceMs(b.time) - knownSilenceMs(a.time));
}

/** Silence in mid-stream as a share of the time of the answers that it was measured in. */
export function silentShare({ time: { stallMs, measuredMs } }: Pick<SourceFigures, 'time'>): number {
  return shareOf(stallMs, measuredMs);
}

function unmeasured({ overall: { cutMs, cutFirstWaitMs, cutSilentMs, wholeMs } }: ReportFigures): string[] {
  const restMs = cutMs - cutFirstWaitMs - cutSilentMs;
  const parts = [
    ...(cutSilentMs > 0 ? [`at least ${duration(cutSilentMs)} of silence in which streams were cut`] : []),
    ...(cutFirstWaitMs > 0 ? [`${duration(cutFirstWaitMs)} of waiting for a first increment in attempts that were cut`] : []),
    ...(restMs > 0 ? [`${duration(restMs)} more of theirs`] : []),
    ...(wholeMs > 0 ? [`${duration(wholeMs)} of attempts of whose middle nothing is known`] : []),
  ];
  return parts.length === 0 ? [] : [`Not in it: ${parts.join('; ')}.`];
}

function slowCalls({ calls: { latency, net } }: ReportFigures): string[] {
  if (latency.p50Ms === null || latency.p95Ms === null) return [];
  const without = net.p95Ms === null ? '' : ` (${duration(net.p95Ms)} without silence)`;
  return [`Answered calls: half took up to ${duration(latency.p50Ms)}, 95 % up to ${duration(latency.p95Ms)}${without}.`];
}

function failures({ calls: { calls, answered }, outcomes, overall: { neverSpoke } }: ReportFigures): string[] {
  const failed = failedOf(outcomes);
  if (failed === 0) return [];
  const silent = neverSpoke === 0 ? '' : `; ${counted(neverSpoke, 'stream')} said nothing at all`;
  return [`Failures: ${grouped(answered)} of ${counted(calls, 'call')} answered; ${counted(failed, 'attempt')} failed${silent}.`];
}

function hedging({ hedges: { calls, started, won, wasted, failed, losers, winnersTokens } }: ReportFigures): string {
  if (started.first_increment + started.stall === 0) return 'Hedging: no backup was started.';
  return `Hedging: ${counted(calls, 'call')}; backups: ${grouped(won)} won, ${grouped(wasted)} wasted, ${grouped(failed)} failed. ${costOf(losers, winnersTokens)}`;
}

/** What nobody counted is not nothing. */
function costOf({ attempts, tokensReported, tokensEstimated, unknown }: ReportFigures['hedges']['losers'], winnersTokens: number): string {
  if (attempts === 0) return 'Nobody lost.';
  if (unknown === attempts) return `What ${counted(attempts, 'loser')} took is not known.`;
  const tokens = tokensReported + tokensEstimated;
  const share = winnersTokens > 0 ? `, ${percent(tokens / winnersTokens)} of the winners'` : '';
  return `Losers took ${unknown > 0 ? 'at least ' : ''}${counted(tokens, 'token')}${share}${unknown > 0 ? ` (${grouped(unknown)} not known)` : ''}.`;
}

function ownFault({ blocked }: ReportFigures): string[] {
  return blocked === 0 ? [] : [`In ${counted(blocked, 'attempt')} this process was itself blocked for over a second: silence there may be its own.`];
}
