import type { MessageEvent } from '@nestjs/common';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Gateway } from 'polygateway';
import { pageEvents } from '../webPage/pageEvents.js';

/**
 * Answers as the events of a page. Plain, without a decorator: the module's factory makes it, and so can a test, which needs
 * no framework then.
 */
export class Answers {
  readonly #gateway: Pick<Gateway, 'stream$'>;

  constructor(gateway: Pick<Gateway, 'stream$'>) {
    this.#gateway = gateway;
  }

  /**
   * Cold: each subscription asks. Never fails: a failure is the last event. Unsubscribing closes the source.
   *
   *     the source:  --a--b|
   *     result:      --(sa)--b(f|)      s = start, f = figures
   */
  about(question: string): Observable<MessageEvent> {
    return this.#gateway.stream$({ messages: [{ role: 'user', content: question }] }).pipe(
      pageEvents(),
      map(({ type, ...data }) => ({ type, data })),
    );
  }
}
