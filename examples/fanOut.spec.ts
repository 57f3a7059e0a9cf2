import { describe, expect, test } from '@jest/globals';
import { filter, last, map } from 'rxjs';
import { marbles } from 'polygateway/testing';
import { fanOut, inPromptOrder, progress } from './fanOut.js';
import type { Outcome, Step } from './fanOut.js';

describe('four prompts, two at a time', () => {
  const prompts = ['a', 'b', 'c', 'd'];
  const llm = ['--------------a|', '----#', '-----c|', '--------d|'];
  const settings = { maxAttempts: 1 };

  test('outcomes come as they come, and a failure ends nothing', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm }, settings });
    const sockets = [
      '              ^--------------!    ',
      '              ^---!               ',
      '              ----^-----!         ',
      '              ----------^--------!',
    ];
    const expected = '(st)(fu)--(cv)-a---(d|)';

    const line = (step: Step): string => `${step.type} ${step.index}`;
    expectObservable(fanOut(gateway, prompts, { concurrency: 2 }).pipe(map(line))).toBe(expected, {
      s: 'started 0', t: 'started 1', u: 'started 2', v: 'started 3', a: 'answered 0', f: 'failed 1', c: 'answered 2', d: 'answered 3',
    });
    expectSockets(gateway, { llm: sockets });
  }));

  test('in the order of the prompts they come when the last one is in', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { llm }, settings });
    const expected = '-------------------(r|)';

    const text = (outcome: Outcome): string => (outcome.type === 'answered' ? outcome.response.content : 'failed');
    expectObservable(fanOut(gateway, prompts, { concurrency: 2 }).pipe(inPromptOrder(), map((outcomes) => outcomes.map(text)))).toBe(expected, {
      r: ['a', 'failed', 'c', 'd'],
    });
  }));

  test('progress tells who runs and who has ended, and when all will have', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { llm }, settings });
    const expected = '(st)(fu)--(cv)-a---(d|)';

    expectObservable(fanOut(gateway, prompts, { concurrency: 2 }).pipe(progress(4))).toBe(expected, {
      s: { running: 1, done: 0, failed: 0, netMs: 0, wallMs: 0, etaMs: null },
      t: { running: 2, done: 0, failed: 0, netMs: 0, wallMs: 0, etaMs: null },
      f: { running: 1, done: 0, failed: 1, netMs: 0, wallMs: 4, etaMs: 12 },
      u: { running: 2, done: 0, failed: 1, netMs: 0, wallMs: 4, etaMs: 12 },
      c: { running: 1, done: 1, failed: 1, netMs: 6, wallMs: 10, etaMs: 10 },
      v: { running: 2, done: 1, failed: 1, netMs: 6, wallMs: 10, etaMs: 10 },
      a: { running: 1, done: 2, failed: 1, netMs: 21, wallMs: 15, etaMs: 5 },
      d: { running: 0, done: 3, failed: 1, netMs: 30, wallMs: 19, etaMs: 0 },
    });
  }));

  test('unsubscribing closes every socket and asks nothing more', marbles(({ testGateway, expectObservable, expectSockets, expectAtRest }) => {
    const gateway = testGateway({ sources: { llm }, settings });
    const left = '           ------!';
    const sockets = [
      '              ^-----!',
      '              ^---!  ',
      '              ----^-!',
    ];
    const expected = '       ----f--';

    const failed$ = fanOut(gateway, prompts, { concurrency: 2 }).pipe(filter(({ type }) => type === 'failed'), map(({ index }) => index));
    expectObservable(failed$, left).toBe(expected, { f: 1 });
    expectSockets(gateway, { llm: sockets });
    expectAtRest(gateway);
  }));
});

describe('limits and silences', () => {
  test('what a source may not be sent yet waits inside the gateway', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: { script: '-----a|', rpm: 2 } } });
    const sockets = [
      '              ^-----!             ',
      '              ^-----!             ',
      '              60s         ^-----! ',
    ];
    const expected = '    ------(ab) 59990ms ------(c|)';

    const index$ = fanOut(gateway, ['a', 'b', 'c']).pipe(filter(({ type }) => type === 'answered'), map(({ index }) => index));
    expectObservable(index$).toBe(expected, { a: 0, b: 1, c: 2 });
    expectSockets(gateway, { llm: sockets });
  }));

  test('a thousand prompts: every tenth answer of a source falls silent and is hedged, and its rate is kept to', marbles(({ testGateway, expectObservable, expectHedges, afterwards }) => {
    const prompts = Array.from({ length: 1000 }, (_, index) => `prompt ${index}`);
    const script = (_request: unknown, nth: number): string => (nth % 10 === 0 ? '500ms a 60s |' : '500ms a 499ms |');
    const gateway = testGateway({
      sources: { stalling: { script, rpm: 600 }, spare: '500ms b 499ms |' },
      settings: { hedgeStallAfterS: 5 },
    });
    const expected = '14s (p|)';

    expectObservable(fanOut(gateway, prompts, { concurrency: 100 }).pipe(progress(1000), last())).toBe(expected, {
      p: { running: 0, done: 1000, failed: 0, netMs: 1_000_000, wallMs: 14_000, etaMs: 0 },
    });
    expectHedges(gateway, Array.from({ length: 60 }, () => ({ from: 'stalling', to: 'spare', outcome: 'won' as const })));
    afterwards(() => expect(gateway.sources.stalling.requests).toHaveLength(600));
  }));
});
