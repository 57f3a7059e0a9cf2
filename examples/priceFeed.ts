import { concat, connect, defer, ignoreElements, map, merge, retry, take, tap, throwError, timer, zip } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { hedge, livenessTimeout, silence, stallMetrics } from 'polygateway/operators';

export interface Price {
  readonly symbol: string;
  readonly price: number;
}

/** Subscribing connects, unsubscribing disconnects: `webSocket<Price>(url)` of `rxjs/webSocket`, for one. */
export type Feed = Observable<Price>;

export interface SteadyOptions {
  /** A feed that says nothing for so long is taken for dead, in ms; default 10,000. */
  readonly deadAfterMs?: number;
  /** The wait before the first new connection, in ms; it doubles with each that breaks, up to 30 s. Default 500. */
  readonly retryAfterMs?: number;
  /** A connection that lasts so long ends the doubling, in ms; default 60,000. */
  readonly steadyAfterMs?: number;
  /** From 0 to 1: takes up to half of each wait away, so that not all clients come at once. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Connects anew when the feed breaks, ends, or is quiet for too long, as one is whose connection died without a word.
 *
 *     feed:         -a--b
 *     connected:    ^-------!              deadAfterMs: ----|
 *                             ^------      retryAfterMs: --|
 *     result:       -a--b------a--b--
 *
 * A price does not end the doubling of the waits, since a feed may send one and break each time. Never ends by itself;
 * unsubscribing disconnects.
 */
export function steady(feed$: Feed, { deadAfterMs = 10_000, retryAfterMs = 500, steadyAfterMs = 60_000, random = Math.random }: SteadyOptions = {}): Feed {
  return defer(() => {
    let broken = 0;
    const living$ = feed$.pipe(livenessTimeout({ firstMs: deadAfterMs, betweenMs: deadAfterMs }));
    const ended$ = throwError(() => new Error('the feed has ended'));
    const proven$ = timer(steadyAfterMs).pipe(tap({ next: () => { broken = 0; } }), ignoreElements());
    const waitMs = (): number => Math.min(retryAfterMs * 2 ** broken++, 30_000) * (0.5 + random() / 2);
    return merge(concat(living$, ended$), proven$).pipe(retry({ delay: () => timer(waitMs()) }));
  });
}

/** `quietMs` is the sum of the waits between prices that were longer than the threshold, `longestMs` the longest of all. */
export type Health =
  | { readonly type: 'quiet' }
  | { readonly type: 'price'; readonly price: Price; readonly quietMs: number; readonly longestMs: number };

/**
 * Says when the feed has become quiet, and with each price how long it was quiet until then.
 *
 *     feed:         -a--b--------c-       thresholdMs: ---|
 *     result:       -a--b--q-----c-       q = quiet; c = { quietMs: 9, longestMs: 9 }
 *
 * Errors pass through. Unsubscribing disconnects.
 */
export function health({ thresholdMs }: { readonly thresholdMs: number }): OperatorFunction<Price, Health> {
  return connect((price$) => {
    const figures$ = price$.pipe(stallMetrics({ thresholdMs }));
    return merge(
      zip(price$, figures$).pipe(map(([price, { stallMs, maxGapMs }]) => ({ type: 'price', price, quietMs: stallMs ?? 0, longestMs: maxGapMs ?? 0 }) as const)),
      price$.pipe(silence({ firstMs: thresholdMs, betweenMs: thresholdMs }), map(() => ({ type: 'quiet' }) as const)),
    );
  });
}

/**
 * One price, now: where the first exchange is late, the second is asked too, and whichever answers first is taken.
 *
 *     first:        ---------a-        patienceMs: ----|
 *     second:           --x----
 *     result:       ------(x|)         both are disconnected
 *
 * Fails only when both do, with the first one's error.
 */
export function quote(first$: Feed, second$: Feed, { patienceMs }: { readonly patienceMs: number }): Feed {
  return first$.pipe(
    take(1),
    hedge({ when: silence({ firstMs: patienceMs, betweenMs: null }), backup: () => second$.pipe(take(1)), combine: ({ primary }) => primary }),
  );
}
