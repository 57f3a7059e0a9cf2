import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { VirtualTimeScheduler, catchError, of } from 'rxjs';
import { silencesOf, triggerMs } from '../../lib/lab/whatif/replay.js';
import { TransientError } from '../../lib/model/errors.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import type { StoredAttempt } from '../../lib/telemetry/attemptReader.js';
import { hello, virtualGateway } from '../support/virtualGateway.js';
import { toStored } from './stallingWorkload.js';

interface Stream {
  readonly streamed: boolean;
  /** Waits before each increment and before the end, in ms. */
  readonly waits: readonly number[];
  readonly end: 'finish' | 'error' | 'hang';
}

/** Small numbers, so that waits and thresholds are often equal. */
const wait = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 12 }) }, { weight: 1, arbitrary: fc.integer({ min: 13, max: 60 }) });
const threshold = fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 4, arbitrary: fc.integer({ min: 1, max: 30 }) });
const anyStream: fc.Arbitrary<Stream> = fc.record({
  streamed: fc.constantFrom(true, true, true, false),
  waits: fc.array(wait, { minLength: 2, maxLength: 9 }),
  end: fc.constantFrom('finish', 'finish', 'error', 'hang'),
});

function toSteps({ streamed, waits, end }: Stream): ScriptStep[] {
  const times = waits.map((_, at) => waits.slice(0, at + 1).reduce((sum, ms) => sum + ms, 0));
  const endMs = times.pop() ?? 0;
  // What is not streamed comes in one piece, at its end.
  const speaks = streamed ? times : end === 'finish' ? [endMs] : [];
  const steps = speaks.map((atMs): ScriptStep => ({ atMs, type: 'delta', delta: { type: 'content', text: 'x' } }));
  if (end === 'hang') return steps;
  if (end === 'error') return [...steps, { atMs: endMs, type: 'error', get error() { return new TransientError('it broke'); } }];
  return [...steps, { atMs: endMs, type: 'delta', delta: { type: 'finish', reason: 'stop' } }, { atMs: endMs, type: 'end' }];
}

/** The first round's rows; the backup hangs, so that the primary always goes on to its own end. */
function play(stream: Stream, thresholds: { hedgeAfterMs: number | null; hedgeStallAfterMs: number | null }): StoredAttempt[] {
  const scheduler = new VirtualTimeScheduler();
  const limits = { ttftS: 0.05, interTokenS: 0.05, timeoutS: 0.3 };
  const gateway = virtualGateway([{ scripts: [toSteps(stream)], ...limits }, { scripts: [''] }], scheduler, { ...thresholds, maxAttempts: 1 });
  gateway.chat$({ ...hello, stream: stream.streamed }).pipe(catchError((error: unknown) => of(error))).subscribe();
  scheduler.flush();
  return gateway.rows.map((record) => toStored(record, scheduler.now()));
}

test('H1, H2: what the rows of an unhedged attempt say is, to the millisecond, when the engine would have hedged it', () => {
  const seen = { hedged: 0, not: 0 };
  fc.assert(
    fc.property(anyStream, threshold, threshold, (stream, hedgeAfterMs, hedgeStallAfterMs) => {
      const [alone] = play(stream, { hedgeAfterMs: null, hedgeStallAfterMs: null });
      const [primary, backup] = play(stream, { hedgeAfterMs, hedgeStallAfterMs }).sort((a, b) => (a.role === 'primary' ? -1 : b.role === 'primary' ? 1 : 0));
      const expected = triggerMs(silencesOf(alone!), hedgeAfterMs ?? Infinity, hedgeStallAfterMs ?? Infinity);
      seen[backup === undefined ? 'not' : 'hedged'] += 1;
      expect(backup === undefined ? Infinity : backup.startedAtMs - primary!.startedAtMs).toBe(expected);
    }),
    { numRuns: 150, seed: 20 },
  );
  expect(Math.min(seen.hedged, seen.not)).toBeGreaterThan(20);
});
