import { describe, expect, test } from '@jest/globals';
import { catchError, firstValueFrom, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import { isCallError, parse } from '../../lib/index.js';
import type { ChatMessage, ChatRequest, Gateway, InvalidAnswerError, Parsed, StandardSchema } from '../../lib/index.js';
import { marbles } from '../../lib/testing/index.js';
import { responseWith } from '../../spec/structured/responseWith.js';

const Trip = z.object({ city: z.string(), days: z.array(z.number()) });
type Trip = z.infer<typeof Trip>;
const good = '{"city":"Oslo","days":[1]}';
const bad = '{"city":7,"days":[1,"x"]}';
const messages: ChatRequest['messages'] = [{ role: 'user', content: 'Where to?' }];
/** What `g`, `b` and `n` say in a diagram: a good answer, a bad one, none at all. */
const texts = { g: good, b: bad, n: 'I would rather talk about my mother.' };
const say = (...letters: (keyof typeof texts)[]): Record<string, string> => Object.fromEntries(letters.map((letter) => [letter, texts[letter]]));

/** A bad answer goes back at most twice. */
const ask = (gateway: Gateway, repairs = 2): Observable<Parsed<Trip>> => {
  const chat = (turns: ChatMessage[]): ReturnType<Gateway['chat$']> => gateway.chat$({ messages: [...messages, ...turns] });
  return chat([]).pipe(parse(Trip, { repairs, repair: chat }));
};

/** What can be seen of how it ended: jest does not look at an error's own fields. */
const seen = (parsed$: Observable<Parsed<Trip>>): Observable<unknown> =>
  parsed$.pipe(
    map(({ value, repairs, response }) => ({ value, repairs, attempts: response.stats.attempts })),
    catchError((error: unknown) => {
      const { code, reason, repairs, message } = error as InvalidAnswerError;
      return of({ code, reason, repairs, message });
    }),
  );

const trip = { city: 'Oslo', days: [1] };
const broken = { code: 'invalid_answer', message: expect.any(String) };

describe('parse', () => {
  test('a good answer passes at once; nothing is asked again', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { a: '--g--|' }, values: say('g') });
    expectObservable(seen(ask(gateway))).toBe('     -----(v|)', { v: { value: trip, repairs: 0, attempts: 1 } });
    expectSockets(gateway, { a: '^----!' });
  }));

  test('a bad answer is sent back with what is wrong with it, each time with all that went before', marbles(({ testGateway, expectObservable, expectSockets, afterwards }) => {
    const gateway = testGateway({ sources: { a: ['--b|', '-n-|', 'g-|'] }, values: say('g', 'b', 'n') });
    const subs = ['^--!', '---^--!', '------^-!'];
    expectObservable(seen(ask(gateway))).toBe('--------(v|)', { v: { value: trip, repairs: 2, attempts: 1 } });
    expectSockets(gateway, { a: subs });
    afterwards(() => {
      expect(gateway.sources.a.requests.map(({ request }) => request.messages)).toEqual([
        messages,
        [...messages, { role: 'assistant', content: bad }, { role: 'user', content: expect.stringMatching(/^Your answer is not .*\n- city: .+\n- days\.1: .+\nAnswer again with the corrected JSON/) }],
        [...messages, expect.anything(), expect.anything(), { role: 'assistant', content: texts.n }, { role: 'user', content: expect.stringMatching(/\n- not JSON/) }],
      ]);
    });
  }));

  test('after the last repair it fails; the error names places, not what was said', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { a: ['--n|', '-b|'] }, values: say('b', 'n') });
    const message = 'the answer of a does not fit its schema at city, days.1, also after one repair';
    expectObservable(seen(ask(gateway, 1))).toBe('-----(e|)', { e: { code: 'invalid_answer', reason: 'wrong_shape', repairs: 1, message } });
    expectSockets(gateway, { a: ['^--!', '---^-!'] });
  }));

  test('without a way to ask again, or with repairs: 0, nothing is', marbles(({ testGateway, expectObservable, afterwards }) => {
    const gateway = testGateway({ sources: { a: '-n|' }, values: say('n') });
    const e = { ...broken, reason: 'not_json', repairs: 0, message: 'the answer of a is not JSON' };
    expectObservable(seen(gateway.chat$({ messages }).pipe(parse(Trip)))).toBe('--(e|)', { e });
    expectObservable(seen(ask(gateway, 0))).toBe('--(e|)', { e });
    afterwards(() => expect(gateway.calls.length).toBe(2));
  }));

  test.each([
    ['refusal', [{ type: 'refusal', text: 'No.' }]],
    ['length', [{ type: 'content', text: '{"city":' }, { type: 'finish', reason: 'length' }]],
    ['content_filter', [{ type: 'content', text: good }, { type: 'finish', reason: 'content_filter' }]],
    ['tool_calls', [{ type: 'tool-call', index: 0, id: '1', name: 'look', arguments: '{}' }]],
  ] as const)('%s is told as such, and not sent back', (reason, deltas) => {
    marbles(({ testGateway, afterwards }) => {
      const gateway = testGateway({ sources: { a: '-x|' }, values: { x: [...deltas] } });
      const told: unknown[] = [];
      seen(ask(gateway)).subscribe((value) => told.push(value));
      afterwards(() => {
        expect(told).toEqual([{ ...broken, reason, repairs: 0 }]);
        expect(gateway.calls.length).toBe(1);
      });
    })();
  });

  test('what the repair fails with passes through', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { a: ['-b|', '--#'] }, values: say('b'), settings: { maxAttempts: 1 } });
    expectObservable(ask(gateway).pipe(catchError((error: unknown) => of(isCallError(error) && error.code)))).toBe('----(e|)', { e: 'all_sources_exhausted' });
  }));

  test('a repair that completes empty gives up', marbles(({ testGateway, expectObservable, cold }) => {
    const gateway = testGateway({ sources: { a: '-b|' }, values: say('b') });
    const parsed$ = gateway.chat$({ messages }).pipe(parse(Trip, { repair: () => cold('--|') }));
    expectObservable(seen(parsed$)).toBe('----(e|)', { e: { code: 'invalid_answer', reason: 'wrong_shape', repairs: 0, message: 'the answer of a does not fit its schema at city, days.1' } });
  }));

  const thrower: StandardSchema<string> = { '~standard': { version: 1, vendor: 'own', validate: () => { throw new Error('secret'); } } };

  test('a schema that throws is a bad answer: its words stay in the cause', marbles(({ testGateway, expectObservable, afterwards }) => {
    const gateway = testGateway({ sources: { a: '-b|' }, values: say('b') });
    let cause: unknown;
    const parsed$ = gateway.chat$({ messages }).pipe(parse(thrower, { repairs: 1, repair: (turns) => gateway.chat$({ messages: turns }) }));
    const noted$ = parsed$.pipe(catchError((error: unknown) => { cause = (error as Error).cause; throw error; })) as Observable<never>;
    expectObservable(seen(noted$)).toBe('----(e|)', { e: { code: 'invalid_answer', reason: 'wrong_shape', repairs: 1, message: 'the answer of a does not fit its schema at its root, also after one repair' } });
    afterwards(() => {
      expect(cause).toMatchObject({ message: 'secret' });
      expect(gateway.sources.a.requests[1]?.request.messages.at(-1)).toMatchObject({ content: expect.stringContaining('- its check failed') });
    });
  }));

  test('long names that the model chose are cut in the message', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { a: '-x|' }, values: { x: JSON.stringify({ ['k'.repeat(5000)]: 'x' }) } });
    const message = `the answer of a does not fit its schema at ${'k'.repeat(59)}…`;
    expectObservable(seen(gateway.chat$({ messages }).pipe(parse(z.record(z.string(), z.number()))) as Observable<never>)).toBe('--(e|)', { e: { code: 'invalid_answer', reason: 'wrong_shape', repairs: 0, message } });
  }));

  test('unsubscribing during a repair closes its socket in the same turn', marbles(({ testGateway, expectObservable, expectSockets, afterwards }) => {
    const gateway = testGateway({ sources: { a: ['-b|', '---g|'] }, values: say('g', 'b') });
    expectObservable(ask(gateway), '                                ^--!').toBe('----');
    expectSockets(gateway, { a: ['^-!', '--^!'] });
    afterwards(() => expect(gateway.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'cancelled']));
  }));

  test('every subscription has a repair budget of its own', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { a: ['-b|', '-g|', '-b|', '-g|'] }, values: say('g', 'b') });
    const parsed$ = seen(ask(gateway, 1));
    const v = { value: trip, repairs: 1, attempts: 1 };
    expectObservable(parsed$).toBe('           ----(v|)', { v });
    expectObservable(parsed$, '-----^').toBe('---------(v|)', { v });
  }));

  test('JSON between fences is read, with text around them and fences within', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { a: '(xyz)-|' }, values: { x: 'Here it is:\n```json\n{"city": "``` Oslo",\n', y: ' "days": []}\n', z: '```\nEnjoy!' } });
    expectObservable(ask(gateway).pipe(map(({ value }) => value))).toBe('------(v|)', { v: { city: '``` Oslo', days: [] } });
  }));
});

test('a schema that takes its time is waited for', async () => {
  const slow: StandardSchema<string> = { '~standard': { version: 1, vendor: 'own', validate: (value) => Promise.resolve({ value: `${String(value)}!` }) } };
  const response = await new Promise<unknown>((resolve, reject) => {
    marbles(({ testGateway }) => {
      const gateway = testGateway({ sources: { a: '-x|' }, values: { x: '"hi"' } });
      gateway.chat$({ messages }).pipe(parse(slow)).subscribe({ next: ({ value }) => resolve(value), error: reject });
    })();
  });
  expect(response).toBe('hi!');
});

/** What `parse` makes of a whole answer, by real time. */
const parsed = (content: string, schema: StandardSchema<unknown, unknown>): Promise<unknown> =>
  firstValueFrom(of(responseWith({ content })).pipe(parse(schema), map(({ value }) => value), catchError((error: unknown) => of((error as Error).message))));

test('a transform that throws is a bad answer too, which zod finds out asynchronously', async () => {
  const Link = z.object({ url: z.string().transform((text) => new URL(text).host) });
  expect(await parsed('{"url":"nope"}', Link)).toBe('the answer of a/1 does not fit its schema at its root');
  expect(await parsed('{"url":"http://a.b/"}', Link)).toEqual({ url: 'a.b' });
});

test.each([
  ['a byte order mark', '\uFEFF{"a":1}'],
  ['a second block', 'So:\n```json\n{"a":1}\n```\nUse it:\n```ts\nuse(a);\n```'],
  ['jsonc', '```jsonc\n{"a":1}\n```'],
  ['javascript', '```javascript\n{"a":1}\n```'],
  ['no word', '```{"a":1}```'],
  ['a word without a space', '```json{"a":1}```'],
  ['an open fence', '```json\n{"a":1}'],
])('JSON is read with %s', async (_what, content) => {
  expect(await parsed(content, z.object({ a: z.number() }))).toEqual({ a: 1 });
});

test.each([
  ['position 4242 is open', 'not JSON'],
  ['x in JSON at position 7', 'not JSON'],
  ['{"a":1,}', 'not JSON from character 8 on'],
  ['{"a":1} x', 'not JSON from character 9 on'],
  ['\uFEFF{"a":1,}', 'not JSON from character 9 on'],
  ['So:\n```json\n{"a":1,}\n```', 'not JSON from character 20 on'],
])('of %p the error tells the place in the answer, if it is known', async (content, problem) => {
  expect(await parsed(content, z.any())).toBe(`the answer of a/1 is ${problem}`);
});

test.each([Number.NaN, -1, 1.5, Infinity])('repairs: %p is refused', (repairs) => {
  expect(() => parse(Trip, { repairs })).toThrow(expect.objectContaining({ code: 'config', message: `repairs is ${repairs}: give a whole number from 0 on` }));
});
