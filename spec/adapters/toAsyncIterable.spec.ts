import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY, NEVER, Observable, VirtualTimeScheduler, concat, from, of, range, throwError } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { toAsyncIterable } from '../../lib/adapters/toAsyncIterable.js';
import { isGatewayError, messageOf } from '../../lib/model/errors.js';

type Step =
  | { type: 'push'; count: number }
  | { type: 'next'; count: number }
  | { type: 'wait'; s: number }
  | { type: 'fail' | 'complete' | 'return' | 'throw' };

const broken = new Error('broken');
const maxWaiting = 4;
const patienceS = 60;

/** What must have come of it, in plain words: one queue of values, one of readers. */
function createModel() {
  const kept: number[] = [];
  let readers = 0;
  let state: 'new' | 'open' | 'over' = 'new';
  let ending: string | undefined;
  let held = false;
  let unreadS = 0;
  let pushed = 0;
  const results: string[] = [];

  function serve(): void {
    for (; readers > 0; readers -= 1) {
      if (kept.length > 0) {
        results.push(`${kept.shift() as number}`);
        unreadS = 0;
        if (kept.length <= maxWaiting / 2) held = false;
      } else if (state === 'over') {
        results.push(ending ?? 'done');
        ending = undefined;
      } else return;
    }
  }

  function end(how?: string): void {
    if (state !== 'over') ending = how;
    state = 'over';
    held = false;
    serve();
  }

  return {
    results,
    held: () => held,
    live: () => state === 'open',
    waiting: () => kept.length,
    play(step: Step): void {
      if (step.type === 'push') {
        for (let left = step.count; left > 0 && state === 'open'; left -= 1) {
          kept.push((pushed += 1));
          serve();
          if (kept.length >= maxWaiting && !held) [held, unreadS] = [true, 0];
        }
      } else if (step.type === 'next') {
        if (state === 'new') state = 'open';
        readers += step.count;
        serve();
      } else if (step.type === 'wait') {
        unreadS += step.s;
        if (held && unreadS >= patienceS) end('slow_reader');
      } else if (step.type === 'return' || step.type === 'throw') {
        kept.length = 0;
        ending = undefined;
        state = 'over';
        end();
      } else if (state === 'open') end(step.type === 'fail' ? 'broken' : 'done');
    },
  };
}

function createRig() {
  const scheduler = new VirtualTimeScheduler();
  let live: Subscriber<number> | undefined;
  let subscriptions = 0;
  let held = false;
  let pushed = 0;
  const results: string[] = [];
  const iterable = toAsyncIterable<number>(
    (held$) => new Observable((subscriber) => {
      subscriptions += 1;
      live = subscriber;
      const inner = held$.subscribe((next) => { held = next; });
      return () => {
        live = undefined;
        held = false;
        inner.unsubscribe();
      };
    }),
    { maxWaiting, patienceS, scheduler },
  );

  function told(error: unknown): void {
    results.push(isGatewayError(error) ? error.code : messageOf(error));
  }

  return {
    results,
    held: () => held,
    live: () => live !== undefined,
    subscriptions: () => subscriptions,
    timers: () => scheduler.actions.length,
    play(step: Step): void {
      if (step.type === 'push') for (let left = step.count; left > 0; left -= 1) live?.next((pushed += 1));
      else if (step.type === 'next') {
        for (let left = step.count; left > 0; left -= 1) iterable.next().then(({ done, value }) => results.push(done === true ? 'done' : `${value}`), told);
      } else if (step.type === 'wait') {
        scheduler.maxFrames = scheduler.frame + step.s * 1000;
        scheduler.flush();
        scheduler.frame = scheduler.maxFrames;
      } else if (step.type === 'return') void iterable.return?.();
      else if (step.type === 'throw') iterable.throw?.('mine').catch(() => undefined);
      else if (step.type === 'fail') live?.error(broken);
      else live?.complete();
    },
  };
}

const step = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.record({ type: fc.constant('push' as const), count: fc.integer({ min: 1, max: 7 }) }),
  fc.record({ type: fc.constant('next' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant('wait' as const), s: fc.integer({ min: 1, max: 40 }) }),
);
const last = fc.record({ type: fc.constantFrom('fail' as const, 'complete' as const, 'return' as const, 'throw' as const) });
const story = fc.tuple(fc.array(step, { maxLength: 20 }), fc.array(last, { maxLength: 2 }), fc.array(step, { maxLength: 8 })).map((parts) => parts.flat<Step[][]>());

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

describe('toAsyncIterable', () => {
  test('does what a plain queue of values and one of readers do, whatever comes in which order', async () => {
    await fc.assert(fc.asyncProperty(story, async (steps) => {
      const model = createModel();
      const rig = createRig();
      for (const each of steps) {
        model.play(each);
        rig.play(each);
        // Held and unsubscribed in the same turn, served by the next.
        const [held, live] = [rig.held(), rig.live()];
        await settled();
        const seen = JSON.stringify({ held, live, results: rig.results });
        const wanted = JSON.stringify({ held: model.held(), live: model.live(), results: model.results });
        // `expect` takes far longer than all the rest.
        if (seen !== wanted) expect(seen).toBe(wanted);
      }
      expect(rig.subscriptions()).toBeLessThanOrEqual(1);
      expect(rig.timers()).toBe(model.held() ? 1 : 0);
    }), { numRuns: 200 });
  });

  test('a forgotten reader: the source is unsubscribed after the patience, what waits stays readable, then it is told what to do', async () => {
    const rig = createRig();
    rig.play({ type: 'next', count: 1 });
    rig.play({ type: 'push', count: 6 });
    rig.play({ type: 'wait', s: 59 });
    expect([rig.held(), rig.live()]).toEqual([true, true]);
    rig.play({ type: 'wait', s: 1 });
    expect([rig.live(), rig.timers()]).toEqual([false, 0]);
    rig.play({ type: 'next', count: 7 });
    await settled();
    expect(rig.results).toEqual(['1', '2', '3', '4', '5', '6', 'slow_reader', 'done']);
  });

  test('a plain Observable that pushes without end is given up 16,384 values after the buffer was full; they are readable', async () => {
    let pushed = 0;
    let left = false;
    const endless$ = new Observable<number>((subscriber) => {
      while (!subscriber.closed) subscriber.next((pushed += 1));
      return () => { left = true; };
    });
    const iterable = toAsyncIterable(endless$, { maxWaiting: 16 });
    const read: number[] = [];
    const reading = (async () => { for await (const value of iterable) read.push(value); })();
    expect(left).toBe(true);
    await expect(reading).rejects.toMatchObject({
      code: 'slow_reader',
      message: 'the stream was given up with 16400 values waiting for its reader: over 16384 more came after maxWaiting=16; read faster, unsubscribe when you have what you need, or raise maxWaiting or patienceS',
    });
    expect(read).toEqual(Array.from({ length: pushed }, (_, at) => at + 1));
    expect(pushed).toBe(16_401);
  });

  test.each([
    ['many', range(1, 5000), 5000, undefined],
    ['none', EMPTY, 0, undefined],
    ['an error alone', throwError(() => broken), 0, broken],
    ['some, then an error', concat(of(1, 2), throwError(() => broken)), 2, broken],
  ])('values that come at once: %s', async (_, source$, count, failure) => {
    const read: number[] = [];
    const reading = (async () => { for await (const value of toAsyncIterable<number>(source$)) read.push(value); })();
    await expect(reading.then(() => undefined, (error: unknown) => error)).resolves.toBe(failure);
    expect(read).toEqual(Array.from({ length: count }, (_value, at) => at + 1));
  });

  test('a source that cannot even be made is an error of the first next()', async () => {
    const iterable = toAsyncIterable<number>(() => { throw new RangeError('no'); });
    await expect(iterable.next()).rejects.toThrow('no');
    expect(await iterable.next()).toEqual({ done: true, value: undefined });
  });

  test('unsubscribing from what RxJS makes of it unsubscribes at once, though next() is pending', () => {
    let live = false;
    const source$ = new Observable<number>(() => {
      live = true;
      return () => { live = false; };
    });
    const subscription = from(toAsyncIterable(source$)).subscribe();
    expect(live).toBe(true);
    subscription.unsubscribe();
    expect(live).toBe(false);
  });

  test('what RxJS makes of it has all values and the error', async () => {
    const read: unknown[] = [];
    const iterable = toAsyncIterable(concat(of(1, 2), throwError(() => broken)));
    await new Promise<void>((resolve) => from(iterable).subscribe({ next: (value) => read.push(value), error: (error: unknown) => { read.push(error); resolve(); } }));
    expect(read).toEqual([1, 2, broken]);
  });

  test('it is never subscribed to if it is left before it was read, and `await using` leaves it', async () => {
    let subscriptions = 0;
    let live = 0;
    const source$ = new Observable<number>((subscriber) => {
      subscriptions += 1;
      live += 1;
      subscriber.next(1);
      return () => { live -= 1; };
    });
    const left = toAsyncIterable(source$);
    expect(await left.return?.('mine')).toEqual({ done: true, value: 'mine' });
    expect(await left.next()).toEqual({ done: true, value: undefined });
    expect(subscriptions).toBe(0);
    {
      await using used = toAsyncIterable(source$);
      await used.next();
      expect(live).toBe(1);
    }
    expect(live).toBe(0);
  });

  test.each([[{ maxWaiting: 0 }], [{ maxWaiting: 1.5 }], [{ maxWaiting: NaN }], [{ patienceS: 0 }], [{ patienceS: Infinity }], [{ patienceS: NaN }]])('%p is refused', (options) => {
    expect(() => toAsyncIterable(NEVER, options)).toThrow(expect.objectContaining({ code: 'config' }));
  });
});
