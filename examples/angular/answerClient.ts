import { Injectable } from '@angular/core';
import type { Observable } from 'rxjs';
import type { PageEvent } from '../webPage/pageEvents.js';
import { eventsFrom } from './eventsFrom.js';

/**
 * Asks the page server, which holds the gateway: keys have no place in a browser. In development, `proxyConfig` of
 * `ng serve` passes `/answer` on to it.
 */
@Injectable({ providedIn: 'root' })
export class AnswerClient {
  ask(question: string): Observable<PageEvent> {
    return eventsFrom(`/answer?${new URLSearchParams({ question }).toString()}`);
  }
}
