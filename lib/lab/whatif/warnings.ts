import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import type { CallShape } from './callShape.js';
import { isChat } from './callShape.js';
import { percent } from './percent.js';
import { silencesOf } from './replay.js';
import type { Budget } from './recommend.js';
import type { Recommendation } from './whatIf.js';

const fewestCalls = 100;
const fewestOthers = 20;

export interface LeftOutCounts {
  /** Calls that are never hedged; calls whose rows are not all there. */
  readonly otherKinds: number;
  readonly incomplete: number;
  /** Attempts whose silences were recorded as one chain of both kinds, so that short ones after a long first wait are unknown. */
  readonly oneChain: number;
  /** Rounds with more than one backup. */
  readonly severalBackups: number;
}

export interface LeftOut {
  readonly counts: LeftOutCounts;
  note(this: void, attempts: readonly StoredAttempt[], call: CallShape | undefined): void;
}

export function createLeftOut(): LeftOut {
  const counts = { otherKinds: 0, incomplete: 0, oneChain: 0, severalBackups: 0 };
  return {
    counts,
    note(attempts, call) {
      if (call === undefined) {
        counts[isChat(attempts) ? 'incomplete' : 'otherKinds'] += 1;
        return;
      }
      counts.oneChain += attempts.filter(isOneChain).length;
      counts.severalBackups += call.rounds.filter(({ backups }) => backups.length > 1).length;
    },
  };
}

function isOneChain(attempt: StoredAttempt): boolean {
  return (attempt.max_inter_token_ms ?? 0) > (silencesOf(attempt).gaps.at(-1)?.[1] ?? 0);
}

/** Why too little is known for a recommendation. */
export function thinReasons(sample: readonly CallShape[], calls: number): string[] {
  if (calls < fewestCalls) return [`${calls === 0 ? 'No call' : calls === 1 ? 'One call' : `Only ${calls} calls`} of a kind that can be hedged: no recommendation under ${fewestCalls}.`];
  const attempts = sample.flatMap(({ rounds }) => rounds.flatMap(({ primary, backups }) => [primary, ...backups]));
  const sources = new Set(attempts.map(({ source }) => source));
  if (sources.size < 2) return ['Only one source was asked, and a backup needs another: what is predicted holds for a second source that is just like it. No recommendation.'];
  const busiest = Math.max(...[...sources].map((source) => attempts.filter((attempt) => attempt.source === source).length));
  const others = attempts.length - busiest;
  return others < fewestOthers ? [`Only ${others} attempts at sources other than the busiest: no recommendation under ${fewestOthers}, since backups are drawn from them.`] : [];
}

interface Known {
  readonly recommendation: Recommendation | null;
  readonly thin: boolean;
  readonly calls: number;
  readonly sample: readonly CallShape[];
  readonly drawn: { readonly completed: number; readonly restricted: number };
  readonly repetitions: number;
  readonly leftOut: LeftOutCounts;
  readonly budget: Budget;
}

export function warningsOf({ recommendation, thin, calls, sample, drawn, repetitions, leftOut, budget }: Known): string[] {
  const attempts = sample.flatMap(({ rounds }) => rounds.flatMap(({ primary, backups }) => [primary, ...backups]));
  const cut = attempts.filter(({ end }) => end === 'cut').length;
  const restricted = Math.round(drawn.restricted / Math.max(1, repetitions));
  const all: readonly (readonly [boolean, string])[] = [
    [recommendation === null && !thin, `Nothing within the budget of ${percent(budget.maxExtra)} more ${budget.maxExtraOf} saves time beyond doubt: no recommendation.`],
    [sample.length < calls, `Predicted from ${sample.length} of ${calls} calls, drawn at random; shares of hedged calls are counted over all.`],
    [cut > 0, `${percent(cut / Math.max(1, attempts.length))} of the attempts were cut (by a hedge, a deadline or the caller): how they would have gone on is drawn from attempts that went further.`],
    [restricted > 0, `About ${restricted} attempts were cut later than any comparable one: they are taken to end there, so times without hedging, and at larger thresholds, are at least what is said.`],
    [leftOut.incomplete > 0, `${leftOut.incomplete} calls left out, since their rows are not complete; filter by time or tag, not by source.`],
    [leftOut.otherKinds > 0, `${leftOut.otherKinds} calls left out that are never hedged (embeddings, OCR).`],
    [leftOut.oneChain > 0, `${leftOut.oneChain} attempts or more were recorded by an earlier version, which noted no silence that was shorter than the first wait: triggers in mid-stream are undercounted there.`],
    [leftOut.severalBackups > 0, `${leftOut.severalBackups} rounds had several backups; predictions are for one (hedgeMaxBackups 1).`],
    [true, 'Assumed: a backup takes as long as other attempts at its source, whatever the prompt; where prompts that stall also take long, savings are overstated.'],
    [true, 'Not modelled: the load of backups, their quota, refused backups, open breakers, hedgeMaxRatio; nor that an answer which is passed on as it comes (stream$, serve --delivery commit) is never hedged in mid-stream. A backup that is refused saves nothing and costs nothing.'],
  ];
  return all.filter(([holds]) => holds).map(([, text]) => text);
}
