import { describe, test } from '@jest/globals';
import { map } from 'rxjs';
import type { ChatRequest } from 'polygateway';
import { marbles } from 'polygateway/testing';
import { netBudget } from './netBudget.js';
import type { Charge } from './netBudget.js';

const ask = (content: string): ChatRequest => ({ messages: [{ role: 'user', content }] });
const requests = { a: ask('a'), b: ask('b'), c: ask('c'), w: { ...ask('whole'), stream: false } };

const lines = { answered: '', failed: 'failed, ' };
const line = (charge: Charge): string => (charge.type === 'left-out' ? charge.type : `${lines[charge.type]}${charge.chargedMs} ms`);

describe('netBudget', () => {
  test('silences are not charged, and what comes when the budget is used up is left out', marbles(({ testGateway, cold, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: ['---a 5s a--|', '---b|'] } });
    const request$ = cold('  (abc|)                   ', requests);
    const budgetS = 0.008;
    const sockets = [
      '                      ^--- 5s ---!             ',
      '                      ---- 5s ---^---!         ',
    ];
    const expected = '       ---- 5s ---a---(bc|)     ';

    expectObservable(request$.pipe(netBudget(gateway, { budgetS }), map(line))).toBe(expected, { a: '6 ms', b: '10 ms', c: 'left-out' });
    expectSockets(gateway, { llm: sockets });
  }));

  test('M8: where silence could not be measured all of the time is charged', marbles(({ testGateway, cold, expectObservable }) => {
    const gateway = testGateway({ sources: { llm: '---w 5s w--|' } });
    const request$ = cold('  (wc|)                 ', requests);
    const budgetS = 0.008;
    const expected = '       ---- 5s ---(wc|)      ';

    expectObservable(request$.pipe(netBudget(gateway, { budgetS }), map(line))).toBe(expected, { w: '5007 ms', c: 'left-out' });
  }));

  test('calls that run when the budget is used up go on, and a failed one is charged its time', marbles(({ testGateway, cold, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: ['-#', '---a|', '-------b|'] }, settings: { maxAttempts: 1 } });
    const request$ = cold('  (abc)---a------', requests);
    const budgetS = 0.004;
    const sockets = [
      '                      ^!             ',
      '                      ^---!          ',
      '                      -^-------!     ',
    ];
    const expected = '       -f--b---ac-----';

    expectObservable(request$.pipe(netBudget(gateway, { budgetS, concurrency: 2 }), map(line))).toBe(expected, {
      f: 'failed, 1 ms', b: '5 ms', a: 'left-out', c: '13 ms',
    });
    expectSockets(gateway, { llm: sockets });
  }));

  test('a source that only times out uses the budget up', marbles(({ testGateway, cold, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: '-' }, settings: { callDeadlineS: 0.005 } });
    const request$ = cold('  (abc|)         ', requests);
    const budgetS = 0.008;
    const sockets = [
      '                      ^----!         ',
      '                      -----^----!    ',
    ];
    const expected = '       -----a----(bc|)';

    expectObservable(request$.pipe(netBudget(gateway, { budgetS }), map(line))).toBe(expected, { a: 'failed, 5 ms', b: 'failed, 10 ms', c: 'left-out' });
    expectSockets(gateway, { llm: sockets });
  }));

  test('whoever has seen enough stops the running call', marbles(({ testGateway, cold, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: '-a' } });
    const request$ = cold('  (ab|) ', requests);
    const left = '           ---!  ';
    const socket = '         ^--!  ';

    expectObservable(request$.pipe(netBudget(gateway, { budgetS: 1 })), left).toBe('');
    expectSockets(gateway, { llm: socket });
  }));
});
