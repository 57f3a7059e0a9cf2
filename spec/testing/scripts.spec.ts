import { describe, expect, test } from '@jest/globals';
import { map } from 'rxjs';
import { like, marbles, scriptedSource, toolCall, usage } from '../../lib/testing/index.js';
import type { ScriptedSourceOptions } from '../../lib/testing/index.js';

describe('a script that makes no sense is refused with a pointer and a remedy', () => {
  test.each<[string, string, ScriptedSourceOptions?]>([
    ['-a-|b', 'The script of "it" cannot be played: "b" stands after the end, "|": put it before, or leave it out.\n  -a-|b\n      ^'],
    ['-a#-|', '"|" stands after the end, "#"'],
    ['-a-b', '"b" stands after the end, "a"', { values: { a: new Error('x') } }],
    ['-a-^', '"^" belongs into subscription diagrams; a script begins with its request, and has its own end, "|", or none.\n  -a-^\n     ^'],
    ['^--!', '"^" belongs into subscription diagrams'],
    ['-a.b|', '"." is no marble: write a letter or a digit, or say in `values` what it stands for.\n  -a.b|\n    ^'],
    ['-(ab', 'the group is not closed by ")".\n  -(ab\n   ^'],
    ['-ab)', 'no group is open that ")" could close'],
    ['-(a(b))', 'a group cannot stand inside a group'],
    ['-(a-b)', 'no time passes inside a group'],
    ['-a|', '`values` explains "a" by { content: "Hello" }, which no source says. Write a text, a delta', { values: { a: { content: 'Hello' } as never } }],
    ['-a|', '`values` explains "a" by ', { values: { a: [{ type: 'toolcall' }] as never } }],
    ['-a|', 'A letter is one character.', { values: { ab: 'x' } }],
    ['-a|', 'This sign has a meaning of its own: take a letter.', { values: { '|': 'x' } }],
  ])('%s', (script, message, options = {}) => {
    expect(() => scriptedSource(script, { id: 'it', ...options })).toThrow(message);
  });

  test('one of several is named by its number', () => {
    expect(() => scriptedSource(['-a|', '-b-|c'], { id: 'it' })).toThrow('The script 2 of "it" cannot be played');
    expect(() => scriptedSource([], { id: 'it' })).toThrow('The source "it" has no script.');
  });

  test('of a timeline: times that go back, that are none, and what follows an end', () => {
    const delta = { type: 'delta', delta: { type: 'content', text: 'x' } } as const;
    expect(() => scriptedSource({ steps: [{ atMs: 5, ...delta }, { atMs: 4, ...delta }] }, { id: 'it' })).toThrow('The script of "it" cannot be played: its step 2, at 4 ms, stands after one at 5 ms. Sort its steps by time.');
    expect(() => scriptedSource({ steps: [{ atMs: -1, ...delta }] })).toThrow('the time of its step 1 is -1');
    expect(() => scriptedSource({ steps: [{ atMs: 1, type: 'end' }, { atMs: 2, ...delta }] })).toThrow('its step 2 stands after its end');
  });
});

const ask = (content: string): { messages: { role: string; content: string }[] } => ({ messages: [{ role: 'user', content }] });

describe('scripts of a test gateway', () => {
  // As a file of tests has them: letters for all, of which each test writes some.
  const values = { a: 'Hel', b: 'lo', t: toolCall('weather', { city: 'Oslo' }), u: usage(12, 30) };

  test('letters are shared, and letters of one source go before them', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { first: '-ab|', second: { script: '-ab|', values: { b: 'p' } } }, values, settings: { selectStrategy: 'round_robin' } });
    const content = map(({ content: said }: { content: string }) => said);
    expectObservable(gateway.chat$(ask('x')).pipe(content)).toBe('---(r|)', { r: 'Hello' });
    expectObservable(gateway.chat$(ask('y')).pipe(content)).toBe('---(r|)', { r: 'Help' });
  }));

  test('a letter may be a call of a tool, or the tokens used; such an answer ends with tool_calls', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { llm: '-t--u|' }, values });
    expectObservable(gateway.chat$(ask('x'))).toBe('-----(r|)', {
      r: like({ finishReason: 'tool_calls', toolCalls: [{ id: 'call_0', name: 'weather', arguments: '{"city":"Oslo"}' }], usage: like({ totalTokens: 42 }) }),
    });
  }));

  test('a request may decide its script, and facts of a source stand beside it', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: { script: ({ messages }, nth) => (messages[0]?.['content'] === 'slow' ? '---s|' : `-${nth}|`), maxConcurrency: 1 } } });
    const content = map(({ content: said }: { content: string }) => said);
    expectObservable(gateway.chat$(ask('slow')).pipe(content)).toBe('----(s|)');
    expectObservable(gateway.chat$(ask('quick')).pipe(content)).toBe('------(1|)');
    expectSockets(gateway, { llm: ['^---!', '----^-!'] });
  }));

  test('a script that a request decided wrongly fails that call at once, with a pointer', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: () => '-a.|', other: '-b|' } });
    expectObservable(gateway.chat$(ask('x'))).toBe('#', {}, like({ code: 'request', message: 'The script for request 1 of "llm" cannot be played: "." is no marble: write a letter or a digit, or say in `values` what it stands for.\n  -a.|\n    ^' }));
    expectSockets(gateway, { other: [] });
  }));
});
