import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NEVER, concat, defer, dematerialize, finalize, map, merge, of, timer } from 'rxjs';
import type { Observable, ObservableNotification } from 'rxjs';
import { hedge } from '../../lib/operators/hedge.js';
import { silence } from '../../lib/operators/silence.js';
import { marbles } from '../support/marbles.js';
import { nameOf, plainHedge } from './plainHedge.js';
import type { AttemptPlan, HedgePlan, Story } from './plainHedge.js';

// Short waits and limits, so that much happens at the same instant.
const waitMs = fc.integer({ min: 0, max: 7 });
const limitMs = fc.integer({ min: 1, max: 5 });
const attemptPlans: fc.Arbitrary<AttemptPlan> = fc.record({
  gapsMs: fc.array(waitMs, { maxLength: 5 }),
  end: fc.record({ type: fc.constantFrom<AttemptPlan['end']['type']>('complete', 'fail', 'fail', 'never'), afterMs: fc.oneof(waitMs, fc.constant(40)) }),
  isWeak: fc.constantFrom(true, false, false),
});
const hedgePlans: fc.Arbitrary<HedgePlan> = fc.record({
  primary: attemptPlans,
  backups: fc.array(attemptPlans, { maxLength: 5, size: 'max' }),
  maxBackups: fc.integer({ min: 1, max: 3 }),
  firstMs: limitMs,
  betweenMs: limitMs,
  againMs: limitMs,
  planning: fc.constantFrom<HedgePlan['planning']>('as they go', 'all in advance'),
});

function play(plan: AttemptPlan, planning: HedgePlan['planning'], attempt: number): Observable<string> {
  type Said = ObservableNotification<string>;
  const values = plan.gapsMs.map((afterMs, at): [number, Said] => [afterMs, { kind: 'N', value: nameOf(attempt, plan, at) }]);
  const ends: Record<AttemptPlan['end']['type'], Said[]> = { complete: [{ kind: 'C' }], fail: [{ kind: 'E', error: attempt }], never: [] };
  const steps = [...values, ...ends[plan.end.type].map((said): [number, Said] => [plan.end.afterMs, said])];
  const after = (ms: number, said: Said): Observable<Said> => (ms === 0 ? of(said) : timer(ms).pipe(map(() => said)));
  if (planning === 'as they go') return concat(...steps.map(([gapMs, said]) => after(gapMs, said)), NEVER).pipe(dematerialize());
  let atMs = 0;
  return merge(...steps.map(([gapMs, said]) => after((atMs += gapMs), said)), NEVER).pipe(dematerialize());
}

/** What the operator does with the plan. */
function hedgeStory(plan: HedgePlan): Story {
  const story: Story = { attempts: [], result: undefined };
  marbles(({ scheduler }) => {
    const now = (): number => scheduler.now();
    const watched = (attemptPlan: AttemptPlan, signalMs: number): Observable<string> =>
      defer(() => {
        const attempt: Story['attempts'][number] = { startMs: now(), signalMs, endMs: undefined };
        const at = story.attempts.push(attempt) - 1;
        return play(attemptPlan, plan.planning, at).pipe(finalize(() => { attempt.endMs = now(); }));
      });
    const silent = (firstMs: number, betweenMs: number) => (attempt$: Observable<string>): Observable<number> => attempt$.pipe(silence({ firstMs, betweenMs }), map(now));
    const tell = (says: string): void => {
      // Whoever lost is closed already.
      const open = story.attempts.filter(({ endMs }) => endMs === undefined).length;
      story.result = { atMs: now(), says: open === 0 ? says : `${says} with ${open} open` };
    };

    const refused: AttemptPlan = { gapsMs: [], end: { type: 'complete', afterMs: 0 }, isWeak: false };
    const unasked = [...plan.backups];
    const decided: string[] = [];
    watched(plan.primary, 0)
      .pipe(
        hedge<string, number>({
          when: silent(plan.firstMs, plan.betweenMs),
          again: silent(plan.againMs, plan.againMs),
          backup: (signalMs) => watched(unasked.shift() ?? refused, signalMs),
          maxBackups: plan.maxBackups,
          combine: ({ primary, backup, backups }) => (backup === backups[0] ? [primary, ...backups].join(' ') : 'which backup?'),
          isWeak: (last) => last.includes('weak'),
          onDecided: (winner, last) => decided.push(`${winner} wins with ${last}`),
        }),
      )
      .subscribe({
        next: (last) => tell(decided.length === 1 && decided[0]?.endsWith(last) ? decided[0] : `decided: ${decided.join()}, and then ${last}`),
        error: (error: unknown) => tell(`failed: ${String(error)}`),
        complete: () => { if (story.result === undefined) tell('nothing'); },
      });
  })();
  return story;
}

test('H3-H7, H14, T4: whatever the attempts do, the operator does what the plain simulation does', () => {
  fc.assert(
    fc.property(hedgePlans, (plan) => {
      expect(hedgeStory(plan)).toEqual(plainHedge(plan, 1000));
    }),
    { numRuns: 1500 },
  );
});
