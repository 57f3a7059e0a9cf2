import { asyncScheduler, catchError, defer, map, mergeMap, of } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import type { ChatRequest, ChatResponse, Gateway } from 'polygateway';

/** What became of a request; `chargedMs` is what was charged for all so far. */
export type Charge =
  | { readonly type: 'answered'; readonly request: ChatRequest; readonly response: ChatResponse; readonly chargedMs: number }
  | { readonly type: 'failed'; readonly request: ChatRequest; readonly error: unknown; readonly chargedMs: number }
  | { readonly type: 'left-out'; readonly request: ChatRequest };

export interface NetBudgetOptions {
  /** Seconds of model time, silences not counted. */
  readonly budgetS: number;
  /** Calls at once; default 1. Up to as many may run over the budget, since what a call takes is known at its end. */
  readonly concurrency?: number;
}

/**
 * Milliseconds of model time to charge for an answer: its silences are not charged. Where they could not be measured, because it
 * was not streamed or came in one piece, `stallMs` is `null`, there is nothing to take off, and all of its time is charged.
 */
export function chargedMs({ latencyMs, stats }: ChatResponse): number {
  return stats.stallMs === null ? latencyMs : latencyMs - stats.stallMs;
}

/**
 * Asks while the budget lasts; requests that come after it is used up are left out, and told as such.
 *
 *     requests:  (abc|)                        budget: 8 ms, one at a time
 *     sockets:   ^--- 5s ---!                  a, of which 5 s were silence: 6 ms are charged
 *                ---- 5s ---^---!              b, at whose end 10 ms are
 *     result:    ---- 5s ---a---(bc|)          c is left out
 *
 * A failed call ends nothing. It is charged all of its time, waits inside the gateway included, since there is no answer that was
 * measured: a source that only times out uses the budget up too. Each subscription has a budget of its own. Unsubscribing stops the
 * running calls.
 *
 *     requests$.pipe(netBudget(gateway, { budgetS: 600 })).subscribe({ next: log })
 */
export function netBudget(gateway: Pick<Gateway, 'chat$'>, { budgetS, concurrency = 1 }: NetBudgetOptions): OperatorFunction<ChatRequest, Charge> {
  return (request$) =>
    defer(() => {
      let totalMs = 0;
      const charge = (ms: number): number => (totalMs += ms);
      const ask = (request: ChatRequest): Observable<Charge> => {
        const startedMs = asyncScheduler.now();
        return gateway.chat$(request).pipe(
          map((response) => ({ type: 'answered' as const, request, response, chargedMs: charge(chargedMs(response)) })),
          catchError((error: unknown) => of({ type: 'failed' as const, request, error, chargedMs: charge(asyncScheduler.now() - startedMs) })),
        );
      };
      return request$.pipe(
        mergeMap((request) => (totalMs < budgetS * 1000 ? ask(request) : of({ type: 'left-out' as const, request })), concurrency),
      );
    });
}
