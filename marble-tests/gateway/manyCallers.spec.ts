import { beforeAll, describe, expect, test } from '@jest/globals';
import { VirtualTimeScheduler, catchError, defer, finalize, map, mergeMap, of, range, repeat, takeWhile, tap, throwError, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { createGateway } from '../../lib/assemble/createGateway.js';
import type { ChatDelta } from '../../lib/model/delta.js';
import { RateLimitedError, TransientError } from '../../lib/model/errors.js';
import type { GatewayEvent } from '../../lib/model/events.js';
import type { Source } from '../../lib/model/source.js';
import { seeded } from '../support/seeded.js';
import { hello } from '../support/virtualGateway.js';

const callers = 50;
const lastsMs = 4 * 60_000;
const meanMs = 2000;
/** B works for 60 s and is broken for 20 s, in turns; C serves eight at once and refuses the ninth. */
const upMs = 60_000;
const downMs = 20_000;
const places = { 'a/1': 10, 'b/1': 10, 'c/1': 8 };

type SourceId = keyof typeof places;

interface Tally {
  /** When requests arrived, per source, and which of them were refused. */
  readonly sent: Record<SourceId, number[]>;
  readonly refusedMs: number[];
  readonly answeredBy: Record<SourceId, number>;
  readonly answersOf: number[];
  readonly waitedMs: number[];
  readonly errors: string[];
  readonly events: GatewayEvent[];
  readonly mostAtOnce: Record<SourceId, number>;
}

function isDown(nowMs: number): boolean {
  return nowMs % (upMs + downMs) >= upMs;
}

/** Fifty callers, each asking again as soon as it has its answer, for some minutes of virtual time. */
function simulate(seed: number): Tally {
  const scheduler = new VirtualTimeScheduler();
  const random = seeded(seed);
  const tally: Tally = {
    sent: { 'a/1': [], 'b/1': [], 'c/1': [] },
    refusedMs: [],
    answeredBy: { 'a/1': 0, 'b/1': 0, 'c/1': 0 },
    answersOf: Array.from({ length: callers }, () => 0),
    waitedMs: [],
    errors: [],
    events: [],
    mostAtOnce: { 'a/1': 0, 'b/1': 0, 'c/1': 0 },
  };
  const inFlight = { 'a/1': 0, 'b/1': 0, 'c/1': 0 };
  const answer$ = (): Observable<ChatDelta> =>
    timer(meanMs * (0.5 + random()), scheduler).pipe(
      mergeMap(() => of<ChatDelta[]>({ type: 'content', text: 'x' }, { type: 'finish', reason: 'stop' })),
    );
  const failing$ = (error: () => Error): Observable<never> => timer(50, scheduler).pipe(mergeMap(() => throwError(() => error())));
  const reply: Record<SourceId, () => Observable<ChatDelta>> = {
    'a/1': answer$,
    'b/1': () => (isDown(scheduler.now()) ? failing$(() => new TransientError('down', { httpStatus: 503 })) : answer$()),
    'c/1': () => {
      if (inFlight['c/1'] <= places['c/1']) return answer$();
      tally.refusedMs.push(scheduler.now());
      return failing$(() => new RateLimitedError('too many at once', { httpStatus: 429 }));
    },
  };
  const source = (id: SourceId): Source => ({
    id,
    provider: id.slice(0, 1),
    model: 'm',
    limits: { timeoutMs: 60_000, ttftTimeoutMs: 30_000 },
    ...(id === 'c/1' ? {} : { maxConcurrency: places[id] }),
    stream: () =>
      defer(() => {
        tally.sent[id].push(scheduler.now());
        inFlight[id] += 1;
        tally.mostAtOnce[id] = Math.max(tally.mostAtOnce[id], inFlight[id]);
        return reply[id]().pipe(finalize(() => { inFlight[id] -= 1; }));
      }),
  });
  const gateway = createGateway({
    settings: { scope: 'LLM', sources: [], selectStrategy: 'round_robin', breakerCooldownS: 5, breakerCooldownMaxS: 5, breakerFailures: 3, backoffS: 0.2, maxAttempts: 5 },
    sources: (Object.keys(places) as SourceId[]).map(source),
    scheduler,
    random,
  });
  gateway.events$.subscribe((event) => tally.events.push(event));
  const call$ = (caller: number): Observable<unknown> =>
    gateway.chat$(hello).pipe(
      tap({
        next: (response) => {
          tally.answersOf[caller] = (tally.answersOf[caller] ?? 0) + 1;
          tally.answeredBy[response.source as SourceId] += 1;
          tally.waitedMs.push(response.stats.waitedMs);
        },
      }),
      catchError((error: unknown) => {
        tally.errors.push(String(error));
        return of(undefined);
      }),
    );
  range(0, callers)
    .pipe(mergeMap((caller) => call$(caller).pipe(repeat(), map(() => scheduler.now()), takeWhile((nowMs) => nowMs < lastsMs && tally.errors.length < 1000))))
    .subscribe();
  scheduler.flush();
  return tally;
}

/** The most of these moments that lie within any span of this length. */
function mostWithin(moments: readonly number[], spanMs: number): number {
  let first = 0;
  return moments.reduce((most, nowMs, last) => {
    while (nowMs - (moments[first] ?? 0) >= spanMs) first += 1;
    return Math.max(most, last - first + 1);
  }, 0);
}

const seeds = process.env['SLOW'] === '1' ? [[1], [2], [3]] : [[1]];

describe.each(seeds)('fifty callers at three sources, one of which flaps and one of which rate-limits (seed %i)', (seed) => {
  let tally: Tally;
  beforeAll(() => { tally = simulate(seed); });

  test('every call is answered; no limit is broken', () => {
    expect(tally.errors).toEqual([]);
    expect(tally.mostAtOnce['a/1']).toBe(10);
    expect(tally.mostAtOnce['b/1']).toBe(10);
  });

  test('throughput is within 5 % of what the limits allow', () => {
    const perPlace = lastsMs / meanMs;
    const allowed = perPlace * (places['a/1'] + places['c/1'] + (places['b/1'] * upMs) / (upMs + downMs));
    const answered = tally.answersOf.reduce((sum, answers) => sum + answers, 0);
    expect(answered / allowed).toBeGreaterThan(0.95);
    expect(answered / allowed).toBeLessThan(1.02);
  });

  test('nobody starves: every caller has its share, and none waits long', () => {
    const mean = tally.answersOf.reduce((sum, answers) => sum + answers, 0) / callers;
    expect(Math.min(...tally.answersOf) / mean).toBeGreaterThan(0.9);
    expect(tally.waitedMs.reduce((most, waitedMs) => Math.max(most, waitedMs), 0)).toBeLessThan(30_000);
  });

  test('R-B4, R-B5: the flapping source is probed by one at a time and not overrun when it is back', () => {
    const closedMs = tally.events.flatMap((event) => (event.type === 'breaker-changed' && event.to === 'closed' ? [event.atMs] : []));
    expect(closedMs.length).toBeGreaterThanOrEqual(2);
    const inFirstSecond = closedMs.map((atMs) => tally.sent['b/1'].filter((sentMs) => sentMs >= atMs && sentMs < atMs + 1000).length);
    expect(Math.max(...inFirstSecond)).toBeLessThanOrEqual(4);
    const whileDown = tally.sent['b/1'].filter((sentMs) => isDown(sentMs) && sentMs % (upMs + downMs) >= upMs + 3000);
    // A probe each 4 to 5 s.
    expect(whileDown.length / (lastsMs / (upMs + downMs))).toBeLessThan(6);
  });

  test('G5, R3: no synchronized waves: the rate-limited source is seldom overrun, and never by many at once', () => {
    // After the first seconds, in which nothing is known of it yet.
    const later = (moments: readonly number[]): number[] => moments.filter((atMs) => atMs > 30_000);
    expect(mostWithin(later(tally.refusedMs), 1000)).toBeLessThanOrEqual(4);
    expect(later(tally.refusedMs).length / later(tally.sent['c/1']).length).toBeLessThan(0.2);
    expect(mostWithin(later(tally.sent['c/1']), 100)).toBeLessThanOrEqual(6);
  });
});
