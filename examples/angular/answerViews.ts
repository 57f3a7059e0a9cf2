import { connect, endWith, filter, map, merge, scan, startWith, switchMap, takeUntil, timer, zip } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { silence, stallMetrics } from 'polygateway/operators';
import type { PageEvent } from '../webPage/pageEvents.js';

/** What the component shows. */
export interface AnswerView {
  readonly text: string;
  /** For how long nothing has come, in seconds; 0 while it speaks. */
  readonly silentS: number;
  /** The silences over one second between its texts, as they were felt here, in ms. */
  readonly stallMs: number;
  /** How it ended; empty while it has not. */
  readonly end: string;
}

export const noAnswer: AnswerView = { text: '', silentS: 0, stallMs: 0, end: '' };

/**
 * Shows the answer to the newest question; a new question closes the connection of the one before.
 *
 *     question$:   -q------r--------
 *     asked:        ^------!             in the same turn
 *                          ^--------
 *     result:      -o--a---o--b--c--     o = `noAnswer`, a, b and c = the text so far
 *
 * Unsubscribing closes the connection.
 */
export function answerViews(question$: Observable<string>, ask: (question: string) => Observable<PageEvent>): Observable<AnswerView> {
  return question$.pipe(switchMap((question) => ask(question).pipe(toViews, startWith(noAnswer))));
}

const toViews: OperatorFunction<PageEvent, AnswerView> = connect((event$) => {
  const text$ = event$.pipe(filter((event) => event.type === 'text'));
  const texts$ = zip(text$.pipe(scan((all, { text }) => all + text, '')), text$.pipe(stallMetrics({ thresholdMs: 1000 })));
  return merge(
    texts$.pipe(map(([text, { stallMs }]) => ({ text, stallMs: stallMs ?? 0, silentS: 0 }))),
    text$.pipe(secondsOfSilence({ afterMs: 2000 }), map((silentS) => ({ silentS }))),
    event$.pipe(filter(isEnd), map((event) => ({ end: wordsOf(event), silentS: 0 }))),
  ).pipe(scan((view: AnswerView, change: Partial<AnswerView>) => ({ ...view, ...change }), noAnswer));
});

/**
 * Counts the seconds of a silence that lasts longer than `afterMs`.
 *
 *     source:    -a 6000ms b-|
 *     result:    - 2s x 999ms y 999ms z …      x = 2, y = 3, z = 4
 */
export function secondsOfSilence({ afterMs }: { readonly afterMs: number }): OperatorFunction<unknown, number> {
  return connect((value$) =>
    value$.pipe(
      silence({ firstMs: afterMs, betweenMs: afterMs }),
      switchMap(() => timer(0, 1000).pipe(takeUntil(value$.pipe(endWith('over'))))),
      map((nth) => afterMs / 1000 + nth),
    ),
  );
}

type End = Extract<PageEvent, { type: 'figures' | 'failure' }>;

function isEnd(event: PageEvent): event is End {
  return event.type === 'figures' || event.type === 'failure';
}

function wordsOf(event: End): string {
  return event.type === 'failure' ? `Not whole: ${event.code}` : `${event.source}: ${event.generationMs} ms net`;
}
