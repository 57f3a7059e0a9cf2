import type { AttemptError, FailureClass } from '../../model/errors.js';
import { limitedBackoffMs, retryBackoffMs } from './backoff.js';
import type { BackoffPolicy } from './backoff.js';

/** A source that asks for a longer pause is out for the call instead (R3). */
export const longestPauseMs = 60_000;

export interface RetryPolicy extends BackoffPolicy {
  readonly maxAttempts: number;
  /** Only transient failures burn the budget (chat, R2-R4); else every failure does (embedding and OCR, R3, R4). */
  readonly onlyTransientBurns: boolean;
}

/** What a call remembers of one source. */
export interface SourceNotes {
  readonly tries: number;
  readonly out: boolean;
  /** The source asked for this much peace on a 5xx (R2). */
  readonly notBeforeMs: number;
}

/** What a call remembers of its rounds. A value: every event gives a new one. */
export interface Ledger {
  readonly fails: number;
  readonly limitedInARow: number;
  readonly sources: Readonly<Record<string, SourceNotes>>;
}

export const emptyLedger: Ledger = { fails: 0, limitedInARow: 0, sources: {} };
const unknownSource: SourceNotes = { tries: 0, out: false, notBeforeMs: -Infinity };

export function notesOf(ledger: Ledger, sourceId: string): SourceNotes {
  return Object.hasOwn(ledger.sources, sourceId) ? (ledger.sources[sourceId] ?? unknownSource) : unknownSource;
}

function amend(ledger: Ledger, sourceId: string, notes: Partial<SourceNotes>): Ledger {
  return { ...ledger, sources: { ...ledger.sources, [sourceId]: { ...notesOf(ledger, sourceId), ...notes } } };
}

export function tried(ledger: Ledger, sourceId: string): Ledger {
  return amend(ledger, sourceId, { tries: notesOf(ledger, sourceId).tries + 1 });
}

export function putOut(ledger: Ledger, sourceId: string): Ledger {
  return amend(ledger, sourceId, { out: true });
}

/** One attempt has failed: what follows for its source, in this call and (`parkMs`) for the whole scope (H7, R2-R4). */
export function attemptFailed(ledger: Ledger, sourceId: string, error: AttemptError, nowMs: number, policy: RetryPolicy): { ledger: Ledger; parkMs?: number } {
  const askedMs = error.retryAfterS === undefined ? 0 : error.retryAfterS * 1000;
  switch (error.code) {
    case 'source':
      return { ledger: putOut(ledger, sourceId) };
    case 'rate_limited': {
      const limited = { ...ledger, limitedInARow: ledger.limitedInARow + 1 };
      // Only what the source asked for may rest it longer than a call would wait.
      const parkMs = Math.max(askedMs, Math.min(longestPauseMs, limitedBackoffMs(limited.limitedInARow, policy)));
      return { ledger: askedMs > longestPauseMs ? putOut(limited, sourceId) : limited, parkMs };
    }
    case 'transient':
      if (askedMs === 0) return { ledger };
      if (askedMs > longestPauseMs) return { ledger: putOut(ledger, sourceId) };
      return { ledger: amend(ledger, sourceId, { notBeforeMs: nowMs + askedMs }) };
    case 'request':
      return { ledger };
    default:
      return error satisfies never;
  }
}

/** What the call does after a round that failed. */
export type NextStep = { type: 'give-up' } | { type: 'throw' } | { type: 'again'; delayMs: number };

/** One round has failed with `failureClass`: only budget and wait follow from it (H7). */
export function roundFailed(ledger: Ledger, failureClass: FailureClass, policy: RetryPolicy): { ledger: Ledger; next: NextStep } {
  switch (failureClass) {
    case 'request':
      return { ledger, next: { type: 'throw' } };
    case 'source':
      return policy.onlyTransientBurns ? { ledger, next: { type: 'again', delayMs: 0 } } : burnt(ledger, policy, () => 0);
    case 'rate_limited':
      return policy.onlyTransientBurns ? { ledger, next: { type: 'again', delayMs: 0 } } : burnt(ledger, policy, retryBackoffMs);
    case 'transient':
      return burnt({ ...ledger, limitedInARow: 0 }, policy, retryBackoffMs);
    default:
      return failureClass satisfies never;
  }
}

function burnt(ledger: Ledger, policy: RetryPolicy, delayMs: (fails: number, policy: RetryPolicy) => number): { ledger: Ledger; next: NextStep } {
  const fails = ledger.fails + 1;
  return { ledger: { ...ledger, fails }, next: fails >= policy.maxAttempts ? { type: 'give-up' } : { type: 'again', delayMs: delayMs(fails, policy) } };
}

/** One request of a call was answered and another follows: with a new budget, but sources that are out stay out. */
export function answered(ledger: Ledger): Ledger {
  const sources = Object.entries(ledger.sources).map(([id, notes]) => [id, { ...notes, tries: 0 }] as const);
  return { fails: 0, limitedInARow: 0, sources: Object.fromEntries(sources) };
}

const hopefulFirst: readonly FailureClass[] = ['transient', 'rate_limited', 'source', 'request'];

/** The more hopeful of two failures (H7). */
export function moreHopeful(a: AttemptError, b: AttemptError): AttemptError {
  return hopefulFirst.indexOf(b.code) < hopefulFirst.indexOf(a.code) ? b : a;
}
