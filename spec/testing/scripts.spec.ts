import { describe, expect, test } from '@jest/globals';
import { scriptedSource, marbles } from '../../lib/testing/index.js';
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
    ['-a|', '`values` explains "b", which the script \'-a|\' does not have. Write it into a script, or leave it out.', { values: { b: 'x' } }],
    ['-a|', 'A letter is one character.', { values: { ab: 'x' } }],
    ['-a|', 'This sign has a meaning of its own: take a letter.', { values: { '|': 'x' } }],
    ['-a|', '`error` says what "#" stands for, which the script \'-a|\' does not have.', { error: new Error('x') }],
  ])('%s', (script, message, options = {}) => {
    expect(() => scriptedSource(script, { id: 'it', ...options })).toThrow(message);
  });

  test('one of several is named by its number, and letters of all of them count', marbles(({ testGateway }) => {
    expect(() => scriptedSource(['-a|', '-b-|c'], { id: 'it' })).toThrow('The script 2 of "it" cannot be played');
    expect(() => scriptedSource([], { id: 'it' })).toThrow('The source "it" has no script.');
    expect(() => testGateway({ sources: { one: '-a|', two: ['-b|', '#'] }, values: { a: 'x', b: 'y' }, error: new Error('z') })).not.toThrow();
    expect(() => testGateway({ sources: { one: '-a|', two: '-b|' }, values: { c: 'x' } })).toThrow('`values` explains "c", which none of the 2 scripts has.');
    expect(() => testGateway({ sources: [scriptedSource('-a|')], values: { a: 'x' } })).toThrow('which only a script that is a diagram could have, and there is none');
  }));

  test('of a timeline: times that go back, that are none, and what follows an end', () => {
    const delta = { type: 'delta', delta: { type: 'content', text: 'x' } } as const;
    expect(() => scriptedSource({ steps: [{ atMs: 5, ...delta }, { atMs: 4, ...delta }] }, { id: 'it' })).toThrow('The script of "it" cannot be played: its step 2, at 4 ms, stands after one at 5 ms. Sort its steps by time.');
    expect(() => scriptedSource({ steps: [{ atMs: -1, ...delta }] })).toThrow('the time of its step 1 is -1');
    expect(() => scriptedSource({ steps: [{ atMs: 1, type: 'end' }, { atMs: 2, ...delta }] })).toThrow('its step 2 stands after its end');
  });
});
