import { describe, expect, test } from '@jest/globals';
import { map } from 'rxjs';
import type { GatewayError } from 'polygateway';
import { marbles } from 'polygateway/testing';
import { searchAsYouType } from './searchAsYouType.js';
import type { SearchView } from './searchAsYouType.js';

/** A view as one line: `a: xy…` while it is being answered, `a: xyz.` when it is. */
function line(view: SearchView): string {
  if (view.type === 'empty') return '';
  const text = `${view.query}: ${view.text}`;
  if (view.type === 'failed') return `${text} (${(view.error as GatewayError).code})`;
  return { answering: `${text}…`, answered: `${text}.`, refused: `${text} (refused)` }[view.type];
}

describe('searchAsYouType', () => {
  test('a new query closes the socket of the one before', marbles(({ testGateway, hot, time, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: '   --x--y--z|' } });
    const query$ = hot('     -a-----b-----------');
    const quietMs = time('    --|                ');
    const sockets = [
      '                      ---^-----!',
      '                      ---------^--------!',
    ];
    const expected = '       ---m-n--op-q--r--st';

    expectObservable(searchAsYouType(gateway, query$, { quietMs }).pipe(map(line))).toBe(expected, {
      m: 'a: …', n: 'a: x…', o: 'a: xy…',
      p: 'b: …', q: 'b: x…', r: 'b: xy…', s: 'b: xyz…', t: 'b: xyz.',
    });
    expectSockets(gateway, { llm: sockets });
  }));

  test('what is typed quickly, or comes back to the same, is asked once', marbles(({ testGateway, hot, time, expectObservable, expectSockets, afterwards }) => {
    const gateway = testGateway({ sources: { llm: '    ---x|' } });
    const query$ = hot('     -hjkh---kh-------', { h: 'h', j: 'hj', k: 'hjk ' });
    const quietMs = time('    --|              ');
    const socket = '         ------^---!      ';
    const expected = '       ------m--no------';

    expectObservable(searchAsYouType(gateway, query$, { quietMs }).pipe(map(line))).toBe(expected, { m: 'h: …', n: 'h: x…', o: 'h: x.' });
    expectSockets(gateway, { llm: socket });
    afterwards(() => expect(gateway.sources.llm.requests.map(({ request }) => request.messages)).toEqual([[{ role: 'user', content: 'h' }]]));
  }));

  test('a search that fails does not end the next one, and an emptied field asks nobody', marbles(({ testGateway, hot, time, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: ['-#', '-x--------|'] }, settings: { maxAttempts: 1 } });
    const query$ = hot('     a------b-----c---', { a: 'a', b: 'b', c: ' ' });
    const quietMs = time('   --|              ');
    const sockets = [
      '                      --^!             ',
      '                      ---------^-----! ',
    ];
    const expected = '       --mn-----op----q--';

    expectObservable(searchAsYouType(gateway, query$, { quietMs }).pipe(map(line))).toBe(expected, {
      m: 'a: …', n: 'a:  (all_sources_exhausted)', o: 'b: …', p: 'b: x…', q: '',
    });
    expectSockets(gateway, { llm: sockets });
  }));

  test('a query that has failed is asked again when it is typed again', marbles(({ testGateway, hot, time, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: ['-#', '--x|'] }, settings: { maxAttempts: 1 } });
    const query$ = hot('     w-----xw--------', { w: 'why', x: 'whyx' });
    const quietMs = time('   --|             ');
    const sockets = [
      '                      --^!            ',
      '                      ---------^--!   ',
    ];
    const expected = '       --mf-----m-no---';

    expectObservable(searchAsYouType(gateway, query$, { quietMs }).pipe(map(line))).toBe(expected, {
      m: 'why: …', f: 'why:  (all_sources_exhausted)', n: 'why: x…', o: 'why: x.',
    });
    expectSockets(gateway, { llm: sockets });
  }));

  test('a failure keeps the text that had come, and a refusal is told as such', marbles(({ testGateway, hot, time, expectObservable }) => {
    const gateway = testGateway({ sources: { llm: ['-x-#', '-r-|'] }, values: { r: { type: 'refusal', text: 'No.' } } });
    const query$ = hot('     a------b-------', { a: 'a', b: 'b' });
    const quietMs = time('   --|            ');
    const expected = '       --mn-f---op-q--';

    expectObservable(searchAsYouType(gateway, query$, { quietMs }).pipe(map(line))).toBe(expected, {
      m: 'a: …', n: 'a: x…', f: 'a: x (stream_interrupted)', o: 'b: …', p: 'b: No.…', q: 'b: No. (refused)',
    });
  }));

  test('leaving the page closes the socket', marbles(({ testGateway, hot, time, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: ' --x' } });
    const query$ = hot('     a--------');
    const quietMs = time('   --|      ');
    const left = '           ------!  ';
    const socket = '         --^---!  ';
    const expected = '       --m-n----';

    expectObservable(searchAsYouType(gateway, query$, { quietMs }).pipe(map(line)), left).toBe(expected, { m: 'a: …', n: 'a: x…' });
    expectSockets(gateway, { llm: socket });
  }));
});
