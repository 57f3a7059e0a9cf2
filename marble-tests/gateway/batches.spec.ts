import { describe, expect, test } from '@jest/globals';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { marbles } from '../support/marbles.js';
import { pick } from '../support/pick.js';
import { recordCall } from '../support/recordedCall.js';
import { virtualBatches } from '../support/virtualBatches.js';
import type { BatchSpec, Turn, VirtualBatches } from '../support/virtualBatches.js';

const stalled = { code: 'all_sources_exhausted', reason: 'stalled' };
const exhausted = { code: 'all_sources_exhausted', reason: 'retry_exhausted' };
const document = { type: 'file', file_id: 'f' } as const;

/** One call of either kind. */
const services: readonly (readonly [string, (scope: VirtualBatches, signal?: AbortSignal) => Observable<{ stats: { attempts: number; waitedMs: number }; callMs: number; source: string }>])[] = [
  ['embedding', ({ embedding }, signal) => embedding.embed$({ input: ['1'] }, signal && { signal })],
  ['OCR', ({ ocr }, signal) => ocr.ocr$({ document }, signal && { signal })],
];

interface Stage {
  readonly scheduler: TestScheduler;
  scopeOf(this: void, specs: readonly BatchSpec[], policy?: Parameters<typeof virtualBatches>[2]): VirtualBatches;
  /** What the call says, and when, in seconds. */
  watch(this: void, call$: Observable<unknown>, atS?: number): { said: (shape: object) => unknown; leave: () => void };
}

/** In virtual time; at the end nothing may be left. */
function inTime(body: (stage: Stage) => () => void): () => void {
  return marbles(({ scheduler, flush }) => {
    const scopes: VirtualBatches[] = [];
    const check = body({
      scheduler,
      scopeOf(specs, policy) {
        const scope = virtualBatches(specs, scheduler, policy);
        scopes.push(scope);
        return scope;
      },
      watch(call$, atS = 0) {
        let call: ReturnType<typeof recordCall> | undefined;
        scheduler.schedule(() => { call = recordCall(call$, scheduler, () => undefined); }, atS * 1000);
        return {
          said: (shape) => (call?.told ?? []).filter(({ notification: { kind } }) => kind !== 'C').map(({ frame, notification: { value, error } }) => [frame / 1000, pick(value ?? error, shape)]),
          leave: () => call?.leave(),
        };
      },
    });
    flush();
    check();
    for (const { embedding, requests, rows } of scopes) {
      expect(embedding.stats()).toMatchObject({ calls: 0, attempts: 0, waiters: 0 });
      expect(Object.values(embedding.stats().permits).every((count) => count === 0)).toBe(true);
      expect(requests.every(({ closedMs }) => closedMs !== null)).toBe(true);
      expect(rows).toHaveLength(requests.length);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    }
    expect(scheduler.actions).toHaveLength(0);
  });
}

const busy = (untilS: number): BatchSpec => ({ turns: [['ok', untilS]], maxConcurrency: 1 });

describe.each(services)('%s: the stall budget', (_, ask) => {
  test('B6: window and timeout of 300 s: the first attempt times out, then no source is runnable, then it is answered', inTime(({ scopeOf, watch }) => {
    // While it sleeps its backoff another call takes the only place, so that it has to wait for a runnable source.
    const scope = scopeOf([{ turns: [['hang', 0], ['ok', 5], ['ok', 2]], maxConcurrency: 1 }], { stallWindowMs: 300_000 });
    const call = watch(ask(scope));
    const other = watch(ask(scope), 300.5);
    return () => {
      expect(other.said({ source: '' })).toEqual([[305.5, { source: 'a/1' }]]);
      expect(call.said({ stats: { attempts: 0, waitedMs: 0 } })).toEqual([[307.5, { stats: { attempts: 2, waitedMs: 5500 } }]]);
    };
  }));

  test('B1: time of real attempts never counts, however long they take', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['hang', 0], ['hang', 0], ['ok', 200]] }], { stallWindowMs: 4000 });
    const call = watch(ask(scope));
    return () => expect(call.said({ stats: { waitedMs: 0 } })).toEqual([[803, { stats: { waitedMs: 3000 } }]]);
  }));

  test('B1, B3: mere waiting fills the window', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([busy(100)], { stallWindowMs: 20_000, pollEveryMs: 500 });
    watch(ask(scope));
    const call = watch(ask(scope), 10);
    return () => expect(call.said({ ...stalled, attempts: 0 })).toEqual([[30.5, { ...stalled, attempts: 0 }]]);
  }));

  // Whether the call has waited for longer than the window, and whether its scope has had no answer for so long.
  test.each<[string, { ownWaitS: number; lastAnswerS: number | null; givenUp: boolean }]>([
    ['both over: given up', { ownWaitS: 21, lastAnswerS: 0, givenUp: true }],
    ['both over, since there was never an answer: given up', { ownWaitS: 21, lastAnswerS: null, givenUp: true }],
    ['only the own wait over: the scope lives, so it waits on', { ownWaitS: 21, lastAnswerS: 18, givenUp: false }],
    ['only the scope`s silence over: it waits on', { ownWaitS: 15, lastAnswerS: 0, givenUp: false }],
    ['neither: it waits on', { ownWaitS: 15, lastAnswerS: 18, givenUp: false }],
  ])('B3: %s', (_case, { ownWaitS, lastAnswerS, givenUp }) => {
    inTime(({ scheduler, scopeOf, watch }) => {
      const scope = scopeOf([busy(30 + ownWaitS)], { stallWindowMs: 20_000, pollEveryMs: 250 });
      watch(ask(scope));
      if (lastAnswerS !== null) scheduler.schedule(() => scope.progress.noteSuccess(), (30 + lastAnswerS - 0.001) * 1000);
      const call = watch(ask(scope), 30);
      return () => expect(call.said({ reason: '' })).toEqual([givenUp ? [50.25, { reason: 'stalled' }] : [60 + ownWaitS + ownWaitS, { reason: undefined }]]);
    })();
  });

  test('B2: two concurrent calls do not share a clock', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([busy(50)], { stallWindowMs: 20_000, pollEveryMs: 1000 });
    const calls = [watch(ask(scope)), watch(ask(scope), 5), watch(ask(scope), 40)];
    return () => expect(calls.map((call) => call.said({ reason: '', stats: { waitedMs: 0 } }))).toEqual([
      [[50, { reason: undefined, stats: { waitedMs: 0 } }]],
      [[26, { reason: 'stalled', stats: undefined }]],
      [[100, { reason: undefined, stats: { waitedMs: 10_000 } }]],
    ]);
  }));

  test('B3: is not asked at the head of a round: what was waited for before does not end it while a source is runnable (S3 5.4)', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['transient', 1], ['ok', 1]] }], { stallWindowMs: 500 });
    const call = watch(ask(scope));
    return () => expect(call.said({ stats: { waitedMs: 0 } })).toEqual([[3, { stats: { waitedMs: 1000 } }]]);
  }));

  test('B4: fail_fast ends at once where no source is runnable', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ ...busy(10), rpm: 1 }], { backpressure: 'fail_fast' });
    watch(ask(scope));
    const call = watch(ask(scope), 1);
    const later = watch(ask(scope), 20);
    return () => {
      expect(call.said({ reason: '', retryAfterS: 0 })).toEqual([[1, { reason: 'no_runnable_source', retryAfterS: 59 }]]);
      expect(later.said({ reason: '', retryAfterS: 0 })).toEqual([[20, { reason: 'no_runnable_source', retryAfterS: 40 }]]);
    };
  }));

  test('X1: leaving inside an attempt closes it in the same turn and is nobody`s fault', inTime(({ scheduler, scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['hang', 0]], maxConcurrency: 1 }], { breaker: { failures: 1 } });
    const call = watch(ask(scope));
    scheduler.schedule(() => call.leave(), 7000);
    return () => {
      expect(call.said({})).toEqual([]);
      expect(scope.requests.map(({ closedMs }) => closedMs)).toEqual([7000]);
      expect(scope.rows.map(({ errorClass, stallMs, latencyMs }) => [errorClass, stallMs, latencyMs])).toEqual([['caller_cancelled', null, 7000]]);
      expect(scope.embedding.stats().breakers).toEqual({ 'a/1': 'closed' });
    };
  }));

  test('X1: leaving while it waits sends nothing', inTime(({ scheduler, scopeOf, watch }) => {
    const scope = scopeOf([busy(10)]);
    watch(ask(scope));
    const call = watch(ask(scope), 1);
    scheduler.schedule(() => call.leave(), 5000);
    return () => expect(scope.requests).toHaveLength(1);
  }));

  test('X3: an aborted signal is the error, unchanged', inTime(({ scheduler, scopeOf, watch }) => {
    const controller = new AbortController();
    const scope = scopeOf([{ turns: [['hang', 0]] }]);
    const call = watch(ask(scope, controller.signal));
    const reason = { code: 'mine' };
    scheduler.schedule(() => controller.abort(reason), 3000);
    return () => expect(call.said({ code: '' })).toEqual([[3, { code: 'mine' }]]);
  }));
});

describe.each(services)('%s: retry', (_, ask) => {
  const failing = (...turns: Turn[]): BatchSpec[] => [{ turns }];

  test('R2: transient failures burn the budget, with backoff', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf(failing(['transient', 1]));
    const call = watch(ask(scope));
    return () => {
      expect(call.said({ ...exhausted, attempts: 0, cause: { code: '' } })).toEqual([[6, { ...exhausted, attempts: 3, cause: { code: 'transient' } }]]);
      expect(scope.requests.map(({ startedMs }) => startedMs)).toEqual([0, 2000, 5000]);
    };
  }));

  test('R3: a 429 burns it too', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf(failing(['limited', 1]));
    const call = watch(ask(scope));
    return () => expect(call.said({ ...exhausted, attempts: 0, cause: { code: '' } })).toEqual([[6, { ...exhausted, attempts: 3, cause: { code: 'rate_limited' } }]]);
  }));

  test('R3: its Retry-After rests that source; another is asked after the backoff', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['limited', 1, { retryAfterS: 30 }]] }, { turns: [['ok', 1]] }]);
    const call = watch(ask(scope));
    return () => {
      expect(call.said({ source: '' })).toEqual([[3, { source: 'b/1' }]]);
      expect(scope.embedding.stats().parked).toEqual({ 'a/1': 28_000 });
    };
  }));

  test('R4: a source that is out burns it too, without a wait', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['source', 1]] }, { turns: [['source', 1]] }, { turns: [['ok', 1]] }], { maxAttempts: 2 });
    const call = watch(ask(scope));
    return () => expect(call.said({ ...exhausted, attempts: 0 })).toEqual([[2, { ...exhausted, attempts: 2 }]]);
  }));

  test('R4: every source out: no polling', inTime(({ scopeOf, watch }) => {
    const call = watch(ask(scopeOf([{ turns: [['source', 1]] }, { turns: [['source', 1]] }])));
    return () => expect(call.said({ reason: '' })).toEqual([[2, { reason: 'no_runnable_source' }]]);
  }));

  test('R4: a request that is wrong is thrown at once', inTime(({ scopeOf, watch }) => {
    const call = watch(ask(scopeOf(failing(['request', 1]))));
    return () => expect(call.said({ code: '' })).toEqual([[1, { code: 'request' }]]);
  }));

  test('W1: only the limit of the whole attempt counts', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['ok', 200]], limits: { ttftTimeoutMs: 1000, interTokenTimeoutMs: 1000, timeoutMs: 300_000 } }]);
    const call = watch(ask(scope));
    return () => {
      expect(call.said({ callMs: 0 })).toEqual([[200, { callMs: 200_000 }]]);
      expect(scope.rows.map(({ ttftMs, stallMs, increments, streamed, won }) => [ttftMs, stallMs, increments, streamed, won])).toEqual([[null, null, null, false, true]]);
    };
  }));

  test('C6: never hedged', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['ok', 50]] }, { turns: [['ok', 1]] }], { hedgeStallAfterMs: 1000 });
    const call = watch(ask(scope));
    return () => {
      expect(call.said({ source: '' })).toEqual([[50, { source: 'a/1' }]]);
      expect(scope.requests).toHaveLength(1);
    };
  }));

  test('R5: the deadline ends it', inTime(({ scopeOf, watch }) => {
    const call = watch(ask(scopeOf(failing(['hang', 0]), { callDeadlineMs: 9000 })));
    return () => expect(call.said({ code: '' })).toEqual([[9, { code: 'call_deadline' }]]);
  }));
});

describe('embedding: batches', () => {
  const inputs = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at));
  const numbers = ({ vectors }: { vectors: Float32Array[] }): number[] => vectors.map(([first = NaN]) => first);
  const embed = (scope: VirtualBatches, count: number): Observable<unknown> => scope.embedding.embed$({ input: inputs(count) }).pipe(map((response) => ({ numbers: numbers(response), ...response })));

  test('one request after the other, each as large as its source takes, in input order', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['ok', 1]], maxBatch: 4 }]);
    const call = watch(embed(scope, 10));
    return () => {
      expect(call.said({ numbers: [], stats: { attempts: 0, answered: 0 }, usage: { totalTokens: 0, completionTokens: 0 } })).toEqual([
        [3, { numbers: inputs(10).map(Number), stats: { attempts: 3, answered: 3 }, usage: { totalTokens: 30, completionTokens: null } }],
      ]);
      expect(scope.requests.map(({ startedMs, inputs: size }) => [startedMs, size])).toEqual([[0, 4], [1000, 4], [2000, 2]]);
      expect(new Set(scope.rows.map(({ callId }) => callId)).size).toBe(1);
    };
  }));

  test('what was answered is not asked again; the retry is as large as the source that takes it over', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['ok', 1], ['transient', 1], ['source', 1]], maxBatch: 4 }, { turns: [['ok', 1]], maxBatch: 2 }]);
    const call = watch(embed(scope, 8));
    return () => {
      expect(call.said({ numbers: [] })).toEqual([[6, { numbers: inputs(8).map(Number) }]]);
      expect(scope.requests.map(({ source, inputs: size }) => [source, size])).toEqual([['a/1', 4], ['a/1', 4], ['b/1', 2], ['a/1', 2], ['b/1', 2]]);
    };
  }));

  test('each request has a retry budget of its own', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['transient', 1], ['transient', 1], ['ok', 1], ['transient', 1], ['transient', 1], ['ok', 1]], maxBatch: 1 }]);
    const call = watch(embed(scope, 2));
    return () => expect(call.said({ numbers: [] })).toEqual([[12, { numbers: [0, 1] }]]);
  }));

  test('R5: the deadline bounds all requests of a call together', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['ok', 2]], maxBatch: 1 }], { callDeadlineMs: 5000 });
    const call = watch(embed(scope, 4));
    return () => {
      expect(call.said({ code: '', attempts: 0 })).toEqual([[5, { code: 'call_deadline', attempts: 3 }]]);
      expect(scope.rows.map(({ errorClass }) => errorClass)).toEqual([null, null, 'deadline']);
    };
  }));

  test('X1, X3: a signal aborted during a later request ends the call', inTime(({ scheduler, scopeOf, watch }) => {
    const controller = new AbortController();
    const scope = scopeOf([{ turns: [['ok', 2]], maxBatch: 1 }]);
    const call = watch(scope.embedding.embed$({ input: inputs(4) }, { signal: controller.signal }));
    scheduler.schedule(() => controller.abort({ code: 'mine' }), 3000);
    return () => {
      expect(call.said({ code: '' })).toEqual([[3, { code: 'mine' }]]);
      expect(scope.requests).toHaveLength(2);
    };
  }));

  test('vectors of another length than those before put the source out', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['ok', 1], ['ok', 1, { length: 3 }]], maxBatch: 1 }, { turns: [['ok', 1]], maxBatch: 1 }]);
    const call = watch(embed(scope, 2));
    return () => {
      expect(call.said({ numbers: [], source: '' })).toEqual([[3, { numbers: [0, 1], source: 'b/1' }]]);
      expect(scope.rows.map(({ errorClass }) => errorClass)).toEqual([null, 'source', null]);
    };
  }));

  test('G1: each request passes admission: requests of the minute are counted', inTime(({ scopeOf, watch }) => {
    const scope = scopeOf([{ turns: [['ok', 1]], maxBatch: 1, rpm: 2 }]);
    const call = watch(embed(scope, 3));
    return () => {
      expect(call.said({ stats: { waitedMs: 0 } })).toEqual([[61, { stats: { waitedMs: 58_000 } }]]);
      expect(scope.requests.map(({ startedMs }) => startedMs)).toEqual([0, 1000, 60_000]);
    };
  }));

  test.each<[string, unknown]>([['no input', []], ['an empty text', ['']], ['no tokens', [[]]], ['what is no token', [1.5]], ['texts beside tokens', ['a', [1]]], ['truth', [true]], ['nothing', undefined]])('bad input is refused before anything is sent: %s', (_, input) => {
    inTime(({ scopeOf, watch }) => {
      const scope = scopeOf([{ turns: [['ok', 1]] }]);
      const call = watch(scope.embedding.embed$({ input } as never));
      return () => {
        expect(call.said({ code: '' })).toEqual([[0, { code: 'request' }]]);
        expect(scope.requests).toEqual([]);
      };
    })();
  });
});
