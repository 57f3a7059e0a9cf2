import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatTimeline } from '../../../lib/lab/upstream/formatTimeline.js';
import { parseTimeline, splitScripts } from '../../../lib/lab/upstream/parseTimeline.js';
import { completeTimeline } from '../../../lib/lab/upstream/completeTimeline.js';
import type { TimelineStep } from '../../../lib/lab/upstream/timeline.js';
import { TimelineError } from '../../../lib/lab/upstream/timelineError.js';
import { TIMELINE_HELP } from '../../../lib/lab/upstream/timelineHelp.js';

describe('steps', () => {
  test.each<[string, object]>([
    ['d@1"Hello"', { type: 'content', text: 'Hello' }],
    ['d@1', { type: 'content', text: 'tick ' }],
    ['d@1"a \\"b\\" \\u00e9\\n"', { type: 'content', text: 'a "b" é\n' }],
    ['r@1"hm"', { type: 'reasoning', text: 'hm' }],
    ['g@1"{\\"a\\":"', { type: 'tool-arguments', text: '{"a":' }],
    ['g(lookup)@1"{}"', { type: 'tool-arguments', text: '{}', name: 'lookup' }],
    ['e@1', { type: 'empty', kind: 'content' }],
    ['e@1(role)', { type: 'empty', kind: 'role' }],
    ['e(choices)@1', { type: 'empty', kind: 'choices' }],
    ['k@1', { type: 'comment' }],
    ['u@1(12,34)', { type: 'usage', promptTokens: 12, completionTokens: 34 }],
    ['u@1(in=9, out=0)', { type: 'usage', promptTokens: 9, completionTokens: 0 }],
    ['D@1', { type: 'done' }],
    ['eof@1', { type: 'eof' }],
    ['rst@1', { type: 'reset' }],
    ['hang@1', { type: 'hang' }],
    ['bad@1', { type: 'broken', text: '{"cho' }],
    ['bad@1"nonsense"', { type: 'broken', text: 'nonsense' }],
    ['err@1(overloaded)', { type: 'error', code: 'overloaded' }],
    ['err@1(code=capacity)', { type: 'error', code: 'capacity' }],
    ['err@1(invalid_request,"max_tokens, too large")', { type: 'error', code: 'invalid_request', message: 'max_tokens, too large' }],
    ['503@1', { type: 'http-error', status: 503 }],
    ['429@1(ra=7)', { type: 'http-error', status: 429, retryAfter: '7' }],
    ['400(context_length_exceeded, "too long")@1', { type: 'http-error', status: 400, code: 'context_length_exceeded', message: 'too long' }],
  ])('%s', (text, step) => {
    expect(parseTimeline(text).at(-1)).toStrictEqual({ atMs: 1000, ...step });
  });

  test('f says stop, or what stands in its brackets', () => {
    expect(parseTimeline('f@1')).toContainEqual({ type: 'finish', atMs: 1000, reason: 'stop' });
    expect(parseTimeline('f(tool_calls)@1')).toContainEqual({ type: 'finish', atMs: 1000, reason: 'tool_calls' });
  });

  test('times are exact to the microsecond', () => {
    expect(parseTimeline('open@0 d@1.1 d@2.000001 d@4.35').map(({ atMs }) => atMs)).toEqual([0, 1100, 2000.001, 4350]);
  });

  test('a repetition has both its ends, and mixes with other steps by time', () => {
    const timed = parseTimeline('open@0 d@1..2/0.25"x" r@1.6').map(({ type, atMs }) => `${type} ${atMs}`);
    expect(timed).toEqual(['open 0', 'content 1000', 'content 1250', 'content 1500', 'reasoning 1600', 'content 1750', 'content 2000']);
    expect(parseTimeline('k@0.0001..0.0007/0.0001')).toHaveLength(8);
  });

  test('a step without a time comes with the step before it; commas may stand between steps', () => {
    const timed = parseTimeline('open@0.1, d@1..3/1, eof').map(({ type, atMs }) => `${type} ${atMs}`);
    expect(timed).toEqual(['open 100', 'content 1000', 'content 2000', 'content 3000', 'eof 3000']);
  });

  test('the scripts of a file are its lines without comments', () => {
    expect(splitScripts('# two\n\n d@1 f@2 \r\n#d@3\nhang')).toEqual(['d@1 f@2', 'hang']);
  });
});

describe('what a script implies', () => {
  test.each([
    ['d@1"x"', 'open@0.1 d@1"x"'],
    ['d@0.05"x"', 'open@0.05 d@0.05"x"'],
    ['d@1"x" f@2', 'open@0.1 d@1"x" f@2 D@2 eof@2'],
    ['f@2 u@2.5(1,2)', 'open@0.1 f@2 u@2.5(1,2) D@2.5 eof@2.5'],
    ['f@2 D@3', 'open@0.1 f@2 D@3'],
    ['f@2 hang', 'open@0.1 f@2 hang@2'],
    ['f@2 rst@3', 'open@0.1 f@2 rst@3'],
    ['eof@1', 'open@0.1 eof@1'],
    ['open(bare)@0.2 eof@1', 'open(bare)@0.2 eof@1'],
    ['hang', 'hang'],
    ['rst@1', 'rst@1'],
    ['503@0.1', '503@0.1'],
  ])('%s', (text, whole) => {
    expect(formatTimeline(parseTimeline(text))).toBe(whole);
  });
});

describe('errors say where and what was expected', () => {
  test.each<[string, number, RegExp]>([
    ['', 1, /at least one step/],
    ['d@1 x@2', 5, /expected one of open d r .* HTTP status.*; found x@2/],
    ['toString@1', 1, /expected one of/],
    ['d@soon', 3, /expected a time in seconds, as in 1\.5; found soon/],
    ['d@-1', 3, /expected a time/],
    ['d@1"abc', 4, /expected a closing double quote/],
    ['d@1"\\x"', 4, /escapes of JSON/],
    ['f@1 "x"', 5, /expected one of/],
    ['k@1"x"', 4, /expected no text/],
    ['k@1(x)', 5, /expected no arguments/],
    ['429@1(after=7)', 7, /no arguments but code, message, ra/],
    ['u@1(1,2,3)', 9, /no arguments but in, out/],
    ['err@1(a,code=b)', 9, /each once/],
    ['u@1(one,two)', 1, /two counts of tokens/],
    ['u@1', 1, /two counts of tokens/],
    ['e@1(what)', 1, /one of content, role, choices/],
    ['f@1(stop', 9, /expected "\)"; found the end/],
    ['err@1(a b)', 9, /expected "\)"; found b\)/],
    ['d@1..5', 7, /expected "\/" and the seconds between two/],
    ['d@5..1/1', 4, /goes forward/],
    ['d@1..5/0', 4, /goes forward/],
    ['d@0..2000000/0.001', 4, /at most 100000 steps/],
    ['f@1..5/1', 4, /cannot be repeated/],
    ['302@1', 1, /HTTP status from 400 to 599/],
    ['d@1 eof@2 d@3', 11, /nothing can follow the eof at 2 s/],
    ['hang@1 d@2', 8, /nothing can follow the hang/],
    ['d@1 503@2', 5, /nothing can come before it/],
    ['d@0.1 open@0.2', 7, /open comes first/],
    ['d@3000000', 1, /between 0 and 2147483\.647 s/],
    ['d@1\nd@x', 3, /line 2, column 3: expected a time/],
  ])('%j', (text, column, message) => {
    const parse = (): unknown => parseTimeline(text);
    expect(parse).toThrow(TimelineError);
    expect(parse).toThrow(expect.objectContaining({ code: 'timeline', column, message: expect.stringMatching(message) }));
  });

  test('a caret points at the place', () => {
    expect(() => parseTimeline('open@0.1 d@x"Hello"')).toThrow(
      'column 12: expected a time in seconds, as in 1.5; found x"Hello"\n  open@0.1 d@x"Hello"\n             ^',
    );
  });
});

describe('round trip', () => {
  const atMs = fc.integer({ min: 0, max: 2 ** 31 - 1 });
  const text = fc.string({ unit: 'binary' });
  const token = fc.oneof(fc.constantFrom('overloaded', 'tool_calls', 'a.b/c'), fc.string());
  const maybe = <K extends string>(key: K): fc.Arbitrary<Partial<Record<K, string>>> => {
    return fc.option(token, { nil: undefined }).map((value) => (value === undefined ? {} : { [key]: value })) as fc.Arbitrary<Partial<Record<K, string>>>;
  };
  const both = <A extends object, B extends object>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>): fc.Arbitrary<A & B> => {
    return fc.tuple(a, b).map(([one, other]) => ({ ...one, ...other }));
  };
  const middle: fc.Arbitrary<TimelineStep> = fc.oneof(
    fc.record({ type: fc.constantFrom('content' as const, 'reasoning' as const, 'broken' as const), atMs, text }),
    both(fc.record({ type: fc.constant('tool-arguments' as const), atMs, text }), maybe('name')),
    fc.record({ type: fc.constant('empty' as const), atMs, kind: fc.constantFrom('content' as const, 'role' as const, 'choices' as const) }),
    fc.record({ type: fc.constantFrom('comment' as const, 'done' as const), atMs }),
    fc.record({ type: fc.constant('usage' as const), atMs, promptTokens: fc.nat(), completionTokens: fc.integer() }),
    fc.record({ type: fc.constant('finish' as const), atMs, reason: token }),
    both(fc.record({ type: fc.constant('error' as const), atMs, code: token }), maybe('message')),
  );
  const last = fc.constantFrom<TimelineStep['type']>('eof', 'reset', 'hang').map((type) => ({ type, atMs: 2 ** 31 - 1 }) as TimelineStep);
  const stream = fc.tuple(fc.array(middle, { minLength: 1 }), fc.option(last, { nil: undefined })).map(([steps, end]) => (end ? [...steps, end] : steps));
  const answer = both(
    fc.record({ type: fc.constant('http-error' as const), atMs, status: fc.integer({ min: 400, max: 599 }) }),
    both(maybe('code'), both(maybe('message'), maybe('retryAfter'))),
  ).map((step) => [step]);

  test('what is written is read back as it was', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: stream }, { weight: 1, arbitrary: answer }), (steps) => {
        const timeline = completeTimeline(steps);
        expect(parseTimeline(formatTimeline(timeline))).toEqual(timeline);
      }),
      { numRuns: 500 },
    );
  });

  test('any text is read or refused with a TimelineError', () => {
    const likely = fc.array(fc.constantFrom('d', 'f', 'u', '503', '@', '1', '.', '..', '/', '(', ')', ',', '=', '"', 'x', ' ', '\\', 'eof', 'ra')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(likely, (script) => {
        try {
          expect(formatTimeline(parseTimeline(script))).not.toBe('');
        } catch (thrown: unknown) {
          expect(thrown).toBeInstanceOf(TimelineError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('every word is in the help, and the example of the help can be played', () => {
  const example = TIMELINE_HELP.split('\n').find((line) => line.startsWith('  open@0.1 d@1'));
  expect(formatTimeline(parseTimeline(example ?? ''))).toBe('open@0.1 d@1"Hello" d@1.2" world" f@1.5 u@1.5(12,2) D@1.5 eof@1.5');
  for (const word of ['open', 'd', 'r', 'g', 'e', 'k', 'u', 'f', 'D', 'eof', 'rst', 'err', 'bad']) expect(TIMELINE_HELP).toContain(`  ${word}@x`);
});
