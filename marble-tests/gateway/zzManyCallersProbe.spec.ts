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


test.each([1,2,3,4,5,6,7,8])('seed %i', (seed) => {
  const tally = simulate(seed);
  const perPlace = lastsMs / meanMs;
  const allowed = perPlace * (places['a/1'] + places['c/1'] + (places['b/1'] * upMs) / (upMs + downMs));
  const answered = tally.answersOf.reduce((sum, answers) => sum + answers, 0);
  const mean = answered / callers;
  const closedMs = tally.events.flatMap((event) => (event.type === 'breaker-changed' && event.to === 'closed' ? [event.atMs] : []));
  const inFirstSecond = closedMs.map((atMs) => tally.sent['b/1'].filter((sentMs) => sentMs >= atMs && sentMs < atMs + 1000).length);
  const whileDown = tally.sent['b/1'].filter((sentMs) => isDown(sentMs) && sentMs % (upMs + downMs) >= upMs + 3000);
  const later = (moments: readonly number[]): number[] => moments.filter((atMs) => atMs > 30_000);
  process.stdout.write(JSON.stringify({ seed, errors: tally.errors.length, share: answered/allowed, min: Math.min(...tally.answersOf)/mean, wait: Math.max(...tally.waitedMs), closed: closedMs.length, first: Math.max(...inFirstSecond), down: whileDown.length/(lastsMs/(upMs+downMs)), ref: mostWithin(later(tally.refusedMs),1000), refShare: later(tally.refusedMs).length / later(tally.sent['c/1']).length, c100: mostWithin(later(tally.sent['c/1']),100), most: tally.mostAtOnce })+'\n');
}, 60000);
