import { TimeoutError, catchError, concatMap, defer, tap, throwError, timeout } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { isChatError } from 'polygateway';
import type { ChatError, ChatRequest, ChatResponse, Gateway } from 'polygateway';
import { hedge, silence } from 'polygateway/operators';

/** A gateway each: every source has a model of its own, so requests name none. */
export interface Models {
  readonly good: Pick<Gateway, 'chat$'>;
  readonly cheap: Pick<Gateway, 'chat$'>;
}

export interface Patience {
  /** How long the good model may take before the cheap one is asked, in ms. */
  readonly patienceMs: number;
}

/**
 * Gives the good model up for the cheap one, when it fails, passes its deadline or takes longer than `patienceMs`.
 *
 *     good:         ----------       patienceMs: ------|
 *     good socket:  ^-----!
 *     cheap:              ---c|
 *     result:       ----------(c|)
 *
 * A `RequestError` is passed on at once: it is wrong everywhere. Fails with what the cheap model fails with. Unsubscribing stops
 * whichever is running.
 *
 *     chatOrCheaper({ good, cheap }, { messages }, { patienceMs: 20_000 }).subscribe(…)
 */
export function chatOrCheaper({ good, cheap }: Models, request: ChatRequest, { patienceMs }: Patience): Observable<ChatResponse> {
  return good.chat$(request).pipe(
    timeout({ first: patienceMs }),
    catchError((error: unknown) => (mayFallBack(error) ? cheap.chat$(request) : throwError(() => error))),
  );
}

/** Not after `request`, since that is wrong at every model, nor after `closed`, which was on purpose. */
const curable: readonly ChatError['code'][] = ['all_sources_exhausted', 'call_deadline', 'governance_backend'];

function mayFallBack(error: unknown): boolean {
  return error instanceof TimeoutError || (isChatError(error) && curable.includes(error.code));
}

/**
 * Asks the cheap model beside a good one that takes longer than `patienceMs`; the first whole answer wins.
 *
 *     good:          ---------a|      patienceMs: ------|
 *     cheap:               --------c|
 *     cheap socket:        ^---!
 *     result:        ----------(a|)
 *
 * What the good model fails with before that is the result. Unsubscribing stops both.
 */
export function chatWithUnderstudy({ good, cheap }: Models, request: ChatRequest, { patienceMs }: Patience): Observable<ChatResponse> {
  return good.chat$(request).pipe(
    hedge({ when: silence({ firstMs: patienceMs, betweenMs: null }), backup: () => cheap.chat$(request), combine: ({ primary }) => primary }),
  );
}

export interface SpendingOptions {
  readonly good: string;
  readonly cheap: string;
  /** Tokens to spend on the good model. */
  readonly tokens: number;
}

/**
 * Answers one request after the other, from the good model until its tokens are spent and from the cheap one then.
 *
 *     requests:  (abc|)        tokens: 100, of which each answer takes 60
 *     result:    ---a---b---(c|)
 *     model:     good   good   cheap
 *
 * The model of a request goes to every source of the gateway, so they all have to know both names. An answer whose usage was not
 * reported counts as none. Errors end it. Unsubscribing stops the running call.
 */
export function cheaperOnceSpent(gateway: Pick<Gateway, 'chat$'>, { good, cheap, tokens }: SpendingOptions): OperatorFunction<ChatRequest, ChatResponse> {
  return (request$) =>
    defer(() => {
      let spent = 0;
      return request$.pipe(
        concatMap((request) => gateway.chat$({ ...request, model: spent < tokens ? good : cheap })),
        tap({ next: ({ usage }) => { spent += usage?.totalTokens ?? 0; } }),
      );
    });
}
