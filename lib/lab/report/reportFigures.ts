import type { RowClass } from '../../model/events.js';

export type { AttemptFilter } from '../../telemetry/attemptReader.js';

/**
 * Where time went, in whole milliseconds summed over attempts. `wallMs` is all of it and the sum of `measuredMs` (answered
 * streams, whose silence is known), `cutMs` (streams that failed or were cancelled, whose silence is known in part only) and
 * `wholeMs` (requests that were not streamed, however they ended, streams of one increment, and rows from before stalls were
 * stored: nothing can be told of their middle). An attempt whose time is not known counts with none.
 */
export interface TimeSplit {
  readonly attempts: number;
  readonly wallMs: number;
  /** Attempts with a `stall_ms`, and their time. */
  readonly measured: number;
  readonly measuredMs: number;
  /** Of `measuredMs`: silence in mid-stream (the sum of `stall_ms`), and the wait for the first increment. */
  readonly stallMs: number;
  readonly firstWaitMs: number;
  /** Streamed attempts that were not answered, those of them that had not said anything, and their time. */
  readonly cut: number;
  readonly neverSpoke: number;
  readonly cutMs: number;
  /** Of `cutMs`: the wait for the first increment, all of it where none came. */
  readonly cutFirstWaitMs: number;
  /** Of `cutMs`, at least: the silence that the end of a stream that had begun to speak cut off, where it was the longest of its stream; a shorter one leaves no record. */
  readonly cutSilentMs: number;
  readonly wholeMs: number;
}

/** Exact order statistics of whole milliseconds; `null` figures where there is no value. Nearest rank: the smallest value with at least that share at or below it. */
export interface Distribution {
  readonly count: number;
  readonly meanMs: number | null;
  readonly p50Ms: number | null;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
  /** `[value, share at or below it]`, growing, at most 200 points that are even on a log scale; the last share is 1. */
  readonly cdf: readonly (readonly [number, number])[];
}

export interface SourceFigures {
  readonly source: string;
  readonly provider: string;
  /** Every model that was asked for there. */
  readonly models: readonly string[];
  readonly time: TimeSplit;
  readonly ttft: Distribution;
  /** Per streamed attempt that had begun to speak: its longest silence in mid-stream, the tail of those that were cut included. Answers of one increment are left out, a stream that was cut at its first counts with 0. */
  readonly longestSilence: Distribution;
  readonly outcomes: OutcomeCounts;
}

/** Attempts by how they ended; `won` and `lost` are the answered ones (a loser that had completed is `lost`). An error of a class that this version does not know is in none. */
export interface OutcomeCounts extends Readonly<Record<RowClass, number>> {
  readonly won: number;
  readonly lost: number;
}

export interface HedgeFigures {
  /** Calls with at least one backup. */
  readonly calls: number;
  /** Backups started, by what triggered them. */
  readonly started: { readonly first_increment: number; readonly stall: number };
  /** Backups that won; that lost, or were cut short by the other, the caller or the deadline; that failed. Together all backups. */
  readonly won: number;
  readonly wasted: number;
  readonly failed: number;
  /** Attempts, primaries and backups, that lost against another one of their round (`lost` or `hedge_cancelled`), and what they cost: the tokens reported, else those estimated; `unknown` attempts have neither. */
  readonly losers: { readonly attempts: number; readonly tokensReported: number; readonly tokensEstimated: number; readonly unknown: number; readonly wallMs: number };
  /** Tokens reported by winners, to compare with. */
  readonly winnersTokens: number;
}

/** Of a call there is what the filter lets through of its attempts. */
export interface CallFigures {
  readonly calls: number;
  /** An attempt of its last round has won. */
  readonly answered: number;
  /** From the call's entering (first start less its wait) to its last attempt's end. Answered calls only. */
  readonly latency: Distribution;
  /** `latency` less the winner's `stall_ms`; calls whose winner has none are left out. */
  readonly net: Distribution;
}

export interface HourFigures {
  /** Begin of the step, ISO 8601, UTC. */
  readonly from: string;
  readonly time: TimeSplit;
  readonly backups: number;
  /** Attempts that ended in error, a missed deadline too; losers and those that the caller left are not counted. */
  readonly failed: number;
}

export interface SlowCall {
  readonly callId: string;
  /** When it was entered; ISO 8601, UTC. */
  readonly startedAt: string;
  readonly callMs: number;
  readonly answered: boolean;
  readonly attempts: readonly SlowAttempt[];
}

export interface SlowAttempt {
  readonly source: string;
  readonly role: 'primary' | 'backup';
  readonly trigger: 'first_increment' | 'stall' | null;
  readonly round: number;
  /** From the call's entering. */
  readonly startMs: number;
  readonly endMs: number;
  readonly ttftMs: number | null;
  readonly won: boolean;
  /** `null`: answered, whether it won or lost. */
  readonly errorClass: RowClass | null;
  readonly errorMessage: string | null;
  /** `[from the attempt's start, length]` of its record gaps, as stored: the wait for the first increment and the tail included. */
  readonly silences: readonly (readonly [number, number])[];
}

/** All that a report shows; plain JSON. */
export interface ReportFigures {
  readonly madeAt: string;
  /** The database without user and password. */
  readonly database: string;
  readonly filter: { readonly since: string | null; readonly until: string | null; readonly source: string | null; readonly tags: Readonly<Record<string, string>> };
  /** Starts of the first and the last attempt that was read, ISO 8601, UTC; `null` where there is none. */
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly overall: TimeSplit;
  readonly outcomes: OutcomeCounts;
  /** Most time first. */
  readonly sources: readonly SourceFigures[];
  readonly ttft: Distribution;
  readonly longestSilence: Distribution;
  /** Every recorded silence in mid-stream: each that was the longest so far of its stream, after the first increment; the tail only of streams that were cut (M4). */
  readonly gaps: Distribution;
  /** Per measured attempt: its time, and that less its `stall_ms`. */
  readonly wall: Distribution;
  readonly net: Distribution;
  readonly calls: CallFigures;
  readonly hedges: HedgeFigures;
  /** Slowest first, at most 20, answered or not. */
  readonly slowest: readonly SlowCall[];
  /** Steps of an hour, or of a day where there would be more than 1000; steps without attempts left out. */
  readonly step: 'hour' | 'day';
  readonly hours: readonly HourFigures[];
  /** Of the attempts: how many had an event-loop delay above a second, so that their silence may be this process's own. */
  readonly blocked: number;
}
