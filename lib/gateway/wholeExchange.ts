import type { Observable } from 'rxjs';
import type { StreamContext } from '../model/source.js';
import type { Usage } from '../model/usage.js';
import type { Exchange } from './task.js';

/** What every answer that comes in one piece tells beside its content. */
export interface WholeAnswer {
  readonly usage: Usage | null;
  readonly model?: string;
  readonly providerRequestId?: string;
}

/** An exchange whose answer comes in one piece; `check` throws where it does not fit the request. */
export function wholeExchange<A extends WholeAnswer>(ask: (context: StreamContext) => Observable<A>, check: (answer: A) => A): Exchange<A, A> {
  let answer: A | undefined;
  return {
    part$: ask,
    read(given) {
      answer = check(given);
      return 'increment';
    },
    reply: {
      answer() {
        if (answer === undefined) throw new Error('there is no answer yet');
        return answer;
      },
      partial: () => ({ increments: 0, chars: 0 }),
      get increments() {
        return answer === undefined ? 0 : 1;
      },
      finished: false,
      finishReason: null,
      get usage() {
        return answer?.usage ?? null;
      },
      get providerRequestId() {
        return answer?.providerRequestId ?? null;
      },
      get model() {
        return answer?.model ?? null;
      },
      whole: true,
    },
  };
}
