import { describe, expect, test } from '@jest/globals';
import { attemptFailed, emptyLedger, moreHopeful, notesOf, putOut, roundFailed, tried } from '../../../lib/governance/retry/ledger.js';
import type { Ledger, NextStep, RetryPolicy, SourceNotes } from '../../../lib/governance/retry/ledger.js';
import { attemptError } from '../../../lib/model/errors.js';
import type { FailureClass } from '../../../lib/model/errors.js';

const calm: RetryPolicy = { maxAttempts: 3, onlyTransientBurns: true, backoffMs: 1000, backoffMaxMs: 8000, random: () => 1 };
const nowMs = 5000;

/** What follows from a failed attempt at `a/1`. */
function after(failureClass: FailureClass, retryAfterS?: number, { ledger = emptyLedger, policy = calm }: { ledger?: Ledger; policy?: RetryPolicy } = {}): { notes: SourceNotes; parkMs: number | undefined; ledger: Ledger } {
  const error = attemptError(failureClass, 'it broke', retryAfterS === undefined ? {} : { retryAfterS });
  const failed = attemptFailed(ledger, 'a/1', error, nowMs, policy);
  return { notes: notesOf(failed.ledger, 'a/1'), parkMs: failed.parkMs, ledger: failed.ledger };
}

describe('one attempt has failed', () => {
  test('R3: only what the source asked for rests it longer than a call would wait', () => {
    const policy = { ...calm, backoffMaxMs: 120_000 };
    const limited = { ...emptyLedger, limitedInARow: 9 };
    expect(after('rate_limited', undefined, { ledger: limited, policy })).toMatchObject({ parkMs: 60_000, notes: { out: false } });
    expect(after('rate_limited', 90, { ledger: limited, policy })).toMatchObject({ parkMs: 90_000, notes: { out: true } });
  });

  test.each<[string, FailureClass, number | undefined, boolean, number, number | undefined]>([
    // rule and case, class, Retry-After in s; out, not before, parked for
    ['R2: transient', 'transient', undefined, false, -Infinity, undefined],
    ['R2: transient, Retry-After is the least wait', 'transient', 3, false, nowMs + 3000, undefined],
    ['R2: transient, Retry-After 0 asks for nothing', 'transient', 0, false, -Infinity, undefined],
    ['R2: transient, asked for a minute', 'transient', 60, false, nowMs + 60_000, undefined],
    ['R2: transient, asked for more than a minute: no sleep, out for this call', 'transient', 60.001, true, -Infinity, undefined],
    ['R3: 429 parks the source for its own backoff', 'rate_limited', undefined, false, -Infinity, 1000],
    ['R3: 429, Retry-After 0 is the own backoff', 'rate_limited', 0, false, -Infinity, 1000],
    ['R3: 429, a Retry-After shorter than the own backoff', 'rate_limited', 0.2, false, -Infinity, 1000],
    ['R3: 429, a longer one', 'rate_limited', 5, false, -Infinity, 5000],
    ['R3: 429, asked for a minute', 'rate_limited', 60, false, -Infinity, 60_000],
    ['R3: 429, asked for more than a minute: parked, and out for this call', 'rate_limited', 60.001, true, -Infinity, 60_001],
    ['R4: source: out for this call, not parked for others', 'source', undefined, true, -Infinity, undefined],
    ['R4: request: says nothing of the source', 'request', undefined, false, -Infinity, undefined],
  ])('%s', (_, failureClass, retryAfterS, out, notBeforeMs, parkMs) => {
    expect(after(failureClass, retryAfterS)).toMatchObject({ notes: { out, notBeforeMs, tries: 0 }, parkMs });
  });

  test('R3: the own backoff grows with the call\'s 429s in a row, over all sources, up to the cap', () => {
    let ledger = emptyLedger;
    const parked = ['a/1', 'b/1', 'a/1', 'b/1', 'a/1'].map((sourceId) => {
      const failed = attemptFailed(ledger, sourceId, attemptError('rate_limited', 'too many'), nowMs, calm);
      ledger = failed.ledger;
      return failed.parkMs;
    });
    expect(parked).toEqual([1000, 2000, 4000, 8000, 8000]);
  });

  test('R3: … a transient round ends the row', () => {
    const limited = after('rate_limited', undefined, { ledger: after('rate_limited').ledger });
    expect(limited.parkMs).toBe(2000);
    const { ledger } = roundFailed(limited.ledger, 'transient', calm);
    expect(after('rate_limited', undefined, { ledger }).parkMs).toBe(1000);
  });

  test('R3: a source is parked for no less than half of backoffS and no less than the Retry-After, whatever is drawn', () => {
    const unlucky = { ...calm, random: (): number => 0 };
    expect(after('rate_limited', undefined, { policy: unlucky }).parkMs).toBe(500);
    expect(after('rate_limited', 5, { policy: unlucky }).parkMs).toBe(5000);
  });

  test('R6: no attempt touches the budget, only rounds do', () => {
    for (const failureClass of ['transient', 'rate_limited', 'source', 'request'] as const) expect(after(failureClass).ledger.fails).toBe(0);
  });
});

describe('a round has failed', () => {
  const again = (delayMs: number): NextStep => ({ type: 'again', delayMs });

  test('R2: transient failures burn the budget, with a backoff between', () => {
    let ledger = emptyLedger;
    const steps = [1, 2, 3].map(() => {
      const decided = roundFailed(ledger, 'transient', calm);
      ledger = decided.ledger;
      return decided.next;
    });
    expect(steps).toEqual([again(1000), again(2000), { type: 'give-up' }]);
  });

  test.each([1, 2, 7])('R2: maxAttempts %i means so many transient rounds', (maxAttempts) => {
    let ledger = emptyLedger;
    let rounds = 0;
    let next: NextStep;
    do {
      ({ ledger, next } = roundFailed(ledger, 'transient', { ...calm, maxAttempts }));
      rounds += 1;
    } while (next.type === 'again');
    expect([rounds, next.type]).toEqual([maxAttempts, 'give-up']);
  });

  test.each<[string, FailureClass]>([['R3: 429s', 'rate_limited'], ['R4: failures of a source', 'source']])('%s burn no budget and go on at once', (_, failureClass) => {
    let ledger = emptyLedger;
    for (let times = 0; times < 100; times += 1) {
      const decided = roundFailed(ledger, failureClass, calm);
      ledger = decided.ledger;
      expect(decided.next).toEqual(again(0));
    }
    expect(roundFailed(ledger, 'transient', calm).next).toEqual(again(1000));
  });

  test('R4: a wrong request is thrown at once', () => {
    expect(roundFailed(emptyLedger, 'request', calm).next).toEqual({ type: 'throw' });
  });

  test('R2: full jitter: the wait lies between nothing and the backoff', () => {
    expect([0, 0.25, 1].map((random) => roundFailed(emptyLedger, 'transient', { ...calm, random: () => random }).next)).toEqual([again(0), again(250), again(1000)]);
  });
});

describe('two failures of one round', () => {
  const classes: readonly FailureClass[] = ['transient', 'rate_limited', 'source', 'request'];
  const pairs = classes.flatMap((first, rank) => classes.map((second, otherRank) => [first, second, rank <= otherRank ? first : second] as const));

  test.each(pairs)('H7: %s and %s: the more hopeful is %s', (first, second, expected) => {
    expect(moreHopeful(attemptError(first, 'first'), attemptError(second, 'second')).code).toBe(expected);
  });

  test('H7: equally hopeful: the first', () => {
    expect(moreHopeful(attemptError('transient', 'first'), attemptError('transient', 'second')).message).toBe('first');
  });

  test('H7: both limited: no budget; each source is parked for itself', () => {
    const first = after('rate_limited', 5);
    const second = attemptFailed(first.ledger, 'b/1', attemptError('rate_limited', 'too many', { retryAfterS: 70 }), nowMs, calm);
    const decided = roundFailed(second.ledger, 'rate_limited', calm);
    expect([first.parkMs, second.parkMs, decided.ledger.fails]).toEqual([5000, 70_000, 0]);
    expect([notesOf(decided.ledger, 'a/1').out, notesOf(decided.ledger, 'b/1').out]).toEqual([false, true]);
  });
});

describe('the ledger', () => {
  test('is a value: every event gives a new one and leaves the old one alone', () => {
    const frozen: Ledger = Object.freeze({ ...emptyLedger, sources: Object.freeze({ 'a/1': Object.freeze({ tries: 1, out: false, notBeforeMs: -Infinity }) }) });
    expect(notesOf(tried(frozen, 'a/1'), 'a/1').tries).toBe(2);
    expect(notesOf(putOut(frozen, 'a/1'), 'a/1')).toMatchObject({ out: true, tries: 1 });
    expect(after('transient', 3, { ledger: frozen }).notes).toMatchObject({ notBeforeMs: nowMs + 3000, tries: 1 });
    expect(roundFailed(frozen, 'transient', calm).ledger).not.toBe(frozen);
    expect(notesOf(frozen, 'a/1')).toEqual({ tries: 1, out: false, notBeforeMs: -Infinity });
  });

  test('keeps each source\'s notes for itself', () => {
    const ledger = tried(putOut(tried(emptyLedger, 'a/1'), 'b/1'), 'a/1');
    expect(ledger.sources).toEqual({ 'a/1': { tries: 2, out: false, notBeforeMs: -Infinity }, 'b/1': { tries: 0, out: true, notBeforeMs: -Infinity } });
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('CF-06: a source may be called %s', (id) => {
    expect(notesOf(emptyLedger, id)).toEqual({ tries: 0, out: false, notBeforeMs: -Infinity });
    expect(notesOf(putOut(tried(emptyLedger, id), id), id)).toMatchObject({ tries: 1, out: true });
    expect(notesOf(tried(putOut(tried(emptyLedger, id), 'other'), 'other'), id)).toMatchObject({ tries: 1, out: false });
  });
});
