import { describe, test } from '@jest/globals';
import { marbles } from 'polygateway/testing';
import type { PageEvent } from '../webPage/pageEvents.js';
import { answerViews, noAnswer, secondsOfSilence } from './answerViews.js';

const events: Record<string, PageEvent> = {
  s: { type: 'start', source: 'llm' },
  a: { type: 'text', text: 'a' },
  b: { type: 'text', text: 'b' },
  q: { type: 'silence', silentMs: 1000 },
  f: { type: 'figures', source: 'llm', generationMs: 9, stallMs: 0, hedges: 0 },
  x: { type: 'failure', code: 'stream_interrupted' },
};

describe('answerViews', () => {
  test('a new question closes the connection of the one before, and begins anew', marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
    const question$ = hot(' -q------r-----------');
    const first$ = cold('    s-a---b--f         ', events);
    const second$ = cold('          -s-b---(x|)', events);
    const firstSubs = '     -^------!           ';
    const secondSubs = '    --------^------!    ';
    const left = '          -------------------!';
    const expected = '      -o-a---bp--c---d----';

    const answers: Record<string, typeof first$> = { q: first$, r: second$ };
    expectObservable(answerViews(question$, (question) => answers[question]!), left).toBe(expected, {
      o: noAnswer,
      a: { ...noAnswer, text: 'a' },
      b: { ...noAnswer, text: 'ab' },
      p: noAnswer,
      c: { ...noAnswer, text: 'b' },
      d: { ...noAnswer, text: 'b', end: 'Not whole: stream_interrupted' },
    });
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('shows how long it is silent, while it is, and at the end how long it was', marbles(({ cold, hot, expectObservable }) => {
    const answer$ = cold('  -s-a 3100ms            b--(f|)', events);
    const question$ = hot('q');
    const left = '          9s !';
    const expected = '      o--a 1999ms x 999ms y 100ms b--f';

    expectObservable(answerViews(question$, () => answer$), left).toBe(expected, {
      o: noAnswer,
      a: { ...noAnswer, text: 'a' },
      x: { ...noAnswer, text: 'a', silentS: 2 },
      y: { ...noAnswer, text: 'a', silentS: 3 },
      b: { ...noAnswer, text: 'ab', stallMs: 3101 },
      f: { ...noAnswer, text: 'ab', stallMs: 3101, end: 'llm: 9 ms net' },
    });
  }));
});

describe('secondsOfSilence', () => {
  test('counts before the first value too, and ends with its source', marbles(({ cold, expectObservable }) => {
    const value$ = cold('   3500ms a            2500ms |');
    const left = '           9s !';
    const expected = '       2s x 999ms y 499ms 2s x 500ms |';

    expectObservable(value$.pipe(secondsOfSilence({ afterMs: 2000 })), left).toBe(expected, { x: 2, y: 3 });
  }));
});
