import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ChatDelta } from '../../lib/model/delta.js';
import { RequestError, TransientError } from '../../lib/model/errors.js';
import { createFold } from '../../lib/model/fold.js';
import type { Answer, AnswerFold } from '../../lib/model/fold.js';
import { parseRequest } from '../../lib/model/request.js';
import { createChatReader } from '../../lib/wire/chatReader.js';
import type { ChatReaderOptions } from '../../lib/wire/chatReader.js';

const frame = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
const choice = (fields: object): string => frame({ choices: [{ index: 0, ...fields }] });
const delta = (fields: object, finish: string | null = null): string => choice({ delta: fields, finish_reason: finish });
const say = (content: string): string => delta({ content });
const stop = delta({}, 'stop');
const done = 'data: [DONE]\n\n';

interface Read {
  deltas: ChatDelta[];
  fold: AnswerFold;
  complete: boolean;
  error?: unknown;
}

function read(pieces: string | readonly string[], options: Partial<ChatReaderOptions> & { brokeOff?: TransientError } = {}): Read {
  const { brokeOff, ...rest } = options;
  const deltas: ChatDelta[] = [];
  const fold = createFold('a');
  const reader = createChatReader({
    emit(each) {
      deltas.push(each);
      fold.add(each);
    },
    failureOf: (report) => new RequestError(JSON.stringify(report)),
    streamed: true,
    ...rest,
  });
  try {
    for (const piece of typeof pieces === 'string' ? [pieces] : pieces) reader.text(piece);
    reader.end(brokeOff);
  } catch (error) {
    return { deltas, fold, complete: reader.complete, error };
  }
  return { deltas, fold, complete: reader.complete };
}

function answer(body: string, options: Partial<ChatReaderOptions> = {}): Answer {
  const { fold, error } = read(body, options);
  if (error !== undefined) throw error as Error;
  return fold.answer();
}

const transient = (words: string): object => ({ error: expect.objectContaining({ code: 'transient', message: expect.stringContaining(words) }) as object });

describe('frames', () => {
  test('how the text is cut into pieces makes no difference', () => {
    const body = `\uFEFF: hello\r\n\r\n${say('a\u2028b')}event: ping\ndata: {}\n\n${delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":1}' } }] })}${stop}${done}`;
    const whole = read(body);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: body.length }), { maxLength: 20 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), body.length];
        const pieces = at.slice(1).map((end, index) => body.slice(at[index], end));
        expect(read(pieces).deltas).toEqual(whole.deltas);
      }),
    );
    expect(whole.fold.answer()).toMatchObject({ content: 'a\u2028b', finishReason: 'tool_calls' });
  });

  test('lines that end in a bare carriage return', () => {
    expect(answer((say('x') + stop + done).replaceAll('\n', '\r')).content).toBe('x');
  });

  test('the last event is read without its blank line, and a cut one is truncation', () => {
    expect(answer((say('x') + stop).trimEnd()).finishReason).toBe('stop');
    expect(read(say('x') + say('rest').slice(0, 30))).toMatchObject({ ...transient('without a finish reason'), complete: false });
  });

  test('frames run together are read one by one, and not at all if one of them is broken', () => {
    expect(answer(`${say('a').trimEnd()}\n${say('b').trimEnd()}\n${stop.trimEnd()}\ndata: [DONE]\n\n`).content).toBe('ab');
    expect(read(`${say('a').trimEnd()}\ndata: {"choices\n\n`)).toMatchObject(transient('no JSON document'));
  });

  test('a broken frame is an error, never skipped', () => {
    expect(read(`${say('a')}data: {"choices":[{"del\n\n${say('b')}${stop}${done}`)).toMatchObject(transient('no JSON document'));
  });

  test('a frame that grows over its bound is an error', () => {
    expect(read(['data: {', 'x'.repeat(60), 'x'.repeat(60)], { maxFrameChars: 100 })).toMatchObject(transient('larger than 100'));
    expect(read(['{"a":"', 'x'.repeat(60), 'x'.repeat(60)], { maxDocumentChars: 100 })).toMatchObject(transient('larger than 100'));
  });

  test('after [DONE] nothing is read', () => {
    const { fold, complete } = read(say('a') + stop + done + say('b'));
    expect(complete).toBe(true);
    expect(fold.answer().content).toBe('a');
  });
});

describe('increments (O1, O2)', () => {
  const increments = (body: string): number => read(body).fold.increments;

  test.each([
    ['content', say('x')],
    ['reasoning', delta({ reasoning_content: 'x' })],
    ['refusal', delta({ refusal: 'x' })],
    ['a tool call that is named', delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] })],
    ['tool arguments', delta({ tool_calls: [{ index: 0, function: { arguments: '{' } }] })],
    ['everything at once, with finish and usage', frame({
      model: 'm',
      choices: [{ index: 0, delta: { content: 'x', reasoning: 'y', tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1 },
    })],
  ])('%s counts once a frame', (_what, body) => {
    expect(increments(body)).toBe(1);
  });

  test.each([
    ['a role', delta({ role: 'assistant', content: '' })],
    ['empty text', delta({ content: null, reasoning_content: '', refusal: '' })],
    ['usage', frame({ choices: [], usage: { prompt_tokens: 1 } })],
    ['a finish reason', stop],
    ['log probabilities', choice({ delta: {}, logprobs: { content: [{ token: 'a' }] } })],
    ['a ping', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['a comment', ': keep-alive\n\n'],
  ])('%s does not count', (_what, body) => {
    expect(increments(body)).toBe(0);
  });

  test('within a frame output comes first, and every delta but the first says that it shares the frame', () => {
    const body = frame({ model: 'm', id: 'r', choices: [{ delta: { content: 'x', reasoning: 'y' }, finish_reason: 'stop' }], usage: { total_tokens: 3 } });
    const { deltas } = read(body);
    expect(deltas.map(({ type, sameFrame }) => [type, sameFrame])).toEqual([
      ['reasoning', undefined],
      ['content', true],
      ['finish', true],
      ['usage', true],
      ['facts', true],
    ]);
  });
});

describe('the end', () => {
  const cutCall = delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":' } }] });

  test('[DONE] without a finish reason completes, but not in the middle of tool arguments', () => {
    expect(answer(say('x') + done).finishReason).toBe('unknown');
    expect(read(cutCall + done)).toMatchObject(transient('arguments of a tool call'));
    expect(read(cutCall + delta({}, 'length') + done).complete).toBe(true);
  });

  test('a broken connection counts only before the finish reason (H15)', () => {
    const brokeOff = new TransientError('reset');
    expect(read(say('x'), { brokeOff }).error).toBe(brokeOff);
    expect(read(say('x') + stop, { brokeOff }).complete).toBe(true);
    expect(read('{"choices":[{"message":{"content":"whole"}}]}', { brokeOff }).complete).toBe(true);
    expect(read('{"choices":[{"mess', { brokeOff }).error).toBe(brokeOff);
    expect(read('', { brokeOff }).error).toBe(brokeOff);
  });

  test('an error after the finish reason takes nothing back, and a stop after an error neither', () => {
    expect(read(say('x') + stop + frame({ error: { message: 'late' } }) + done).complete).toBe(true);
    expect(read(say('x') + frame({ error: { message: 'early' } }) + stop + done).error).toBeInstanceOf(RequestError);
  });

  test.each([
    ['an error field', frame({ error: { message: 'm' } })],
    ['an error in a choice', choice({ error: { code: 502 }, delta: {} })],
    ['a flat report', frame({ object: 'error', message: 'm' })],
    ['a typed report', frame({ type: 'error', error: { type: 'overloaded_error' } })],
    ['a code and a message', frame({ code: 1302, msg: 'too fast' })],
    ['a failed base response', frame({ base_resp: { status_code: 1002, status_msg: 'rate' } })],
    ['a detail', frame({ detail: 'no' })],
    ['an event named error', 'event: error\ndata: plain words\n\n'],
    ['an error document', '{"error":"no"}'],
    ['an error document in a list', '[{"error":{"code":429}}]'],
    ['an error beside a code of success', frame({ error: { code: 0, message: 'but no' } })],
  ])('%s is a failure', (_what, body) => {
    expect(read(body + done).error).toBeInstanceOf(RequestError);
  });

  test.each([
    ['an empty error', { error: {} }],
    ['a list of no errors', { error: [] }],
    ['an error that says nothing', { error: { code: 0, message: '', type: null } }],
    ['a number for no error', { error: 0 }],
    ['no detail', { detail: null }],
  ])('%s is none (beside an answer, or as padding)', (_what, fields) => {
    const good = { choices: [{ index: 0, delta: { content: 'x' } }] };
    expect(answer(frame({ ...good, ...fields }) + frame(fields) + stop).content).toBe('x');
    expect(answer(JSON.stringify({ choices: [{ message: { content: 'x' } }], ...fields })).content).toBe('x');
  });

  test.each(['error', 'network_error', 'insufficient_system_resource', 'abort'])('finish reason %s is a failure', (word) => {
    expect(read(say('x') + delta({}, word) + done)).toMatchObject(transient(word));
  });

  test.each([
    ['end_turn', 'stop'], ['STOP', 'stop'], ['max_tokens', 'length'], ['MAX_TOKENS', 'length'], ['tool_use', 'stop'], ['SAFETY', 'content_filter'],
    ['sensitive', 'content_filter'], ['something_new', 'something_new'],
  ])('finish reason %s reads as %s', (word, reason) => {
    expect(answer(say('x') + delta({}, word)).finishReason).toBe(reason);
  });

  test('the last finish reason stays, and null is none', () => {
    expect(answer(say('x') + stop + delta({}, 'length') + delta({}, null) + done).finishReason).toBe('length');
    expect(answer(say('x') + stop + delta({}, 'error') + done).finishReason).toBe('stop');
  });

  describe('a finish reason in every frame', () => {
    const each = (content: string, finish = 'stop'): string => delta({ content }, finish);

    test('is no end: the text after it is read, and each is told', () => {
      const { fold, deltas } = read(each('a') + each('b') + each('c', 'length') + done);
      expect(fold.answer()).toMatchObject({ content: 'abc', finishReason: 'length' });
      expect(deltas.filter(({ type }) => type === 'finish')).toHaveLength(3);
    });

    test('ends where the body ends', () => {
      expect(read(each('a') + each('b')).complete).toBe(true);
    });

    test.each([
      ['an error frame', frame({ error: { message: 'm' } })],
      ['an event named error', 'event: error\ndata: plain words\n\n'],
      ['an error for a finish reason', delta({}, 'error')],
      ['a broken frame', 'data: {"choices":[{"del\n\n'],
    ])('%s is a failure once output came after one', (_what, body) => {
      expect(read(each('a') + each('b') + body + done).error).toBeDefined();
      expect(read(each('a') + body + done).error).toBeUndefined();
    });

    test('so is a connection that breaks', () => {
      const brokeOff = new TransientError('reset');
      expect(read(each('a') + each('b'), { brokeOff }).error).toBe(brokeOff);
      expect(read(each('a'), { brokeOff }).complete).toBe(true);
    });
  });

  test.each([['stop'], ['length'], ['content_filter'], [null]])('finish reason %s without any output is no answer (H4)', (finish) => {
    const spent = frame({ choices: [], usage: { completion_tokens: 7 } });
    expect(read(delta({}, finish) + spent + done)).toMatchObject(transient('without any output'));
    expect(read(JSON.stringify({ choices: [{ message: { content: '' }, finish_reason: finish }], usage: { completion_tokens: 7 } }))).toMatchObject(transient('without any output'));
  });

  test.each([['', 'empty'], ['  \n', 'empty'], ['[{"choices":[{"message":{"content":"a"}}]},{"choices":[{"message":{"content":"b"}}]}]', 'not one JSON document'], ['<html>login</html>', 'markup'], ['\u001f\u008b', 'without a finish reason'], ['{}', 'no answer'], ['{"choices":[]}', 'no answer']])(
    'the body %j is transient', (body, words) => {
      expect(read(body)).toMatchObject(transient(words));
    },
  );
});

describe('an answer in one piece', () => {
  const document = { id: 'r1', model: 'm1', choices: [{ message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }], usage: { total_tokens: 4 } };

  test('is told as such where a stream was asked for, and only there', () => {
    expect(read(JSON.stringify(document)).fold.whole).toBe(true);
    expect(read(JSON.stringify(document), { streamed: false }).fold).toMatchObject({ whole: false, model: 'm1', providerRequestId: 'r1' });
  });

  test('is found in a wrapping, behind a byte-order mark, before an end marker', () => {
    for (const body of [`\uFEFF ${JSON.stringify({ code: 0, msg: 'ok', data: document })}`, `${JSON.stringify(document)}\n\n${done}`]) {
      expect(answer(body, { streamed: false })).toMatchObject({ content: 'whole', finishReason: 'stop', usage: { totalTokens: 4 } });
    }
  });

  test('an event stream is read as one even if none was asked for', () => {
    expect(answer(say('x') + stop + done, { streamed: false }).content).toBe('x');
  });
});

describe('text', () => {
  test('reasoning is taken from the first name that has any', () => {
    expect(answer(delta({ reasoning: 'a', reasoning_content: 'a' }) + delta({ thinking: 'b' }) + delta({ reasoning_details: [{ text: 'c' }, { summary: 'd' }] }) + stop).reasoning).toBe('abcd');
  });

  test('a message instead of deltas is taken, one that repeats them is not', () => {
    expect(answer(choice({ message: { content: 'one' } }) + choice({ message: { content: ' two' }, finish_reason: 'stop' })).content).toBe('one two');
    const repeated = choice({ message: { content: 'said', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] }, finish_reason: 'stop' });
    expect(answer(say('said') + repeated)).toMatchObject({ content: 'said', toolCalls: [{ id: 'c', name: 'f' }] });
  });

  test('a message beside a delta brings what the delta does not', () => {
    expect(answer(JSON.stringify({ choices: [{ delta: {}, message: { content: 'all' }, finish_reason: 'stop' }] }))).toMatchObject({ content: 'all' });
    expect(answer(choice({ delta: {}, message: { content: 'one' } }) + choice({ delta: {}, message: { content: ' two' }, finish_reason: 'stop' })).content).toBe('one two');
    expect(answer(choice({ delta: { content: 'x' }, message: { content: 'x', reasoning_content: 'why' }, finish_reason: 'stop' }))).toMatchObject({ content: 'x', reasoning: 'why' });
  });

  test('parts of a content list go where their type says', () => {
    const content = ['a', { type: 'text', text: 'b' }, { type: 'thinking', thinking: 't' }, { type: 'refusal', refusal: 'r' }, { type: 'image', data: 1 }];
    expect(answer(delta({ content }) + stop)).toMatchObject({ content: 'ab', reasoning: 't', refusal: 'r' });
  });

  test('only the first choice is read, whatever its number', () => {
    const both = frame({ choices: [{ index: 1, delta: { content: 'mine' } }, { index: 2, delta: { content: 'other' } }] });
    expect(answer(both + frame({ choices: [{ index: 2, delta: {}, finish_reason: 'length' }] }) + frame({ choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] }))).toMatchObject({
      content: 'mine',
      finishReason: 'stop',
    });
  });

  test('the id from a header goes before the one in the body', () => {
    const body = frame({ id: 'body', choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] });
    expect(answer(body, { requestId: 'header' }).providerRequestId).toBe('header');
    expect(answer(body).providerRequestId).toBe('body');
  });
});

describe('think tags', () => {
  const split = (text: string, thinkTags = true): { reasoning: string; content: string } => {
    const byCharacter = Array.from(text, say).join('') + stop + done;
    const { reasoning, content } = answer(byCharacter, { thinkTags });
    return { reasoning, content };
  };

  test.each([
    ['<think>why</think>what', 'why', 'what'],
    [' \n<think>why</think>what', 'why', 'what'],
    ['<think>a < b </thin c</think>what', 'a < b </thin c', 'what'],
    ['<think>never closed</thi', 'never closed</thi', ''],
    ['<thin', '', '<thin'],
    ['<thinking>no', '', '<thinking>no'],
    ['text <think>x</think>', '', 'text <think>x</think>'],
    ['<think>a</think>b<think>c</think>', 'a', 'b<think>c</think>'],
  ])('%j', (text, reasoning, content) => {
    expect(split(text)).toEqual({ reasoning, content });
  });

  test('are text unless the source says otherwise', () => {
    expect(split('<think>a</think>b', false)).toEqual({ reasoning: '', content: '<think>a</think>b' });
  });
});

describe('tool calls', () => {
  const calls = (...frames: readonly object[][]): string[] =>
    answer(frames.map((fragments) => delta({ tool_calls: fragments })).join('') + stop).toolCalls.map(({ id, name, arguments: args }) => `${id}:${name}:${args}`);
  const f = (args: unknown, name?: string): object => ({ function: { arguments: args, ...(name === undefined ? {} : { name }) } });

  test('fragments of two calls may interleave by index', () => {
    expect(calls([{ index: 3, id: 'a', ...f('{"x"', 'f') }], [{ index: 7, id: 'b', ...f('{"y"', 'g') }], [{ index: 3, ...f(':1}') }, { index: 7, ...f(':2}') }])).toEqual(['a:f:{"x":1}', 'b:g:{"y":2}']);
  });

  // At the square of their number, these would take minutes.
  test('however many calls there are, each is found again', () => {
    const many = Array.from({ length: 30_000 }, (_, index) => index);
    const found = calls(many.map((index) => ({ index, id: `c${index}`, ...f('{"x":', 'f') })), many.map((index) => ({ index, ...f(`${index}}`) })));
    expect(found).toEqual(many.map((index) => `c${index}:f:{"x":${index}}`));
  });

  test('without an index fragments follow their id, and those without id the call before', () => {
    expect(calls([{ id: 'a', ...f('{', 'f') }], [f('"x":1}')], [{ id: 'b', ...f('', 'g') }], [{ id: 'b', ...f('{}') }])).toEqual(['a:f:{"x":1}', 'b:g:{}']);
  });

  test('an id that changes with every fragment does not split a call', () => {
    expect(calls([{ index: 0, id: 'a', ...f('{"x"', 'f') }], [{ index: 0, id: 'b', ...f(':1') }], [{ index: 0, id: 'c', ...f('}', 'f') }])).toEqual(['a:f:{"x":1}']);
  });

  test('several in one frame without index and id are told apart by their place', () => {
    expect(calls([f('{"x":', 'f'), f('{"y":', 'g')], [f('1}'), f('2}')])).toEqual(['call_a_0:f:{"x":1}', 'call_a_1:g:{"y":2}']);
  });

  test('a repeated name without new arguments is no new call', () => {
    expect(calls([{ index: 0, ...f('{}', 'f') }], [{ index: 0, ...f('', 'f') }])).toEqual(['call_a_0:f:{}']);
  });

  test('the old function_call is one call', () => {
    const body = delta({ function_call: { name: 'f', arguments: '{"x"' } }) + delta({ function_call: { arguments: ':1}' } }) + delta({}, 'function_call');
    expect(answer(body)).toMatchObject({ finishReason: 'tool_calls', toolCalls: [{ name: 'f', arguments: '{"x":1}' }] });
  });

  test('the input of a custom tool is free text, whole at any point', () => {
    const custom = (fields: object): string => delta({ tool_calls: [{ index: 0, ...fields }] });
    const { fold, complete } = read(custom({ id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls ' } }) + custom({ custom: { input: '-l {' } }) + done);
    expect(complete).toBe(true);
    expect(fold.answer()).toMatchObject({
      toolCalls: [{ id: 'a', name: 'sh', arguments: 'ls -l {' }],
      message: { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls -l {' } }] },
    });
  });

  test('an object for arguments is written as JSON, and fields that we do not know stay in the message', () => {
    const body = delta({ tool_calls: [{ index: 0, id: 'a', ...f({ x: 1 }, 'f'), extra_content: { signature: 's' } }] }) + stop;
    expect(answer(body).message.tool_calls).toEqual([{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' }, extra_content: { signature: 's' } }]);
  });
});

describe('the message to append', () => {
  const call = delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] });
  const message = (body: string): object => answer(body + stop).message;

  test('keeps reasoning_content beside tool calls, where the next turn is refused without it', () => {
    const why = delta({ reasoning_content: 'be' }) + delta({ reasoning_content: 'cause' });
    expect(message(why + call)).toMatchObject({ role: 'assistant', content: null, reasoning_content: 'because' });
    expect(message(why + say('x'))).toEqual({ role: 'assistant', content: 'x' });
    expect(message(delta({ reasoning: 'why' }) + call)).not.toHaveProperty('reasoning_content');
  });

  test('keeps reasoning_details beside tool calls, as they came', () => {
    const details = [{ type: 'reasoning.text', text: 'a', index: 0 }, { type: 'reasoning.encrypted', data: 'z', index: 1 }];
    const { fold } = read(delta({ reasoning: 'a', reasoning_details: [details[0]] }) + delta({ reasoning_details: [details[1]] }) + call + stop);
    expect(fold.answer().message).toMatchObject({ reasoning_details: details });
    expect(fold.increments).toBe(2);
  });

  test('of an answer in one piece, and of a message that repeats what was streamed, too', () => {
    const whole = { content: '', reasoning_content: 'why', reasoning_details: [{ data: 1 }], tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] };
    const kept = { reasoning_content: 'why', reasoning_details: [{ data: 1 }] };
    expect(answer(JSON.stringify({ choices: [{ message: whole }] })).message).toMatchObject(kept);
    expect(message(delta({ reasoning_content: 'why', reasoning_details: [{ data: 1 }] }) + call + choice({ message: whole }))).toMatchObject(kept);
  });

  test('can be a message of the next request', () => {
    const messages: { role: string; [field: string]: unknown }[] = [{ role: 'user', content: 'hi' }];
    messages.push(answer(say('x') + stop).message);
    expect(parseRequest({ messages }).messages).toHaveLength(2);
  });
});

describe('usage', () => {
  const usage = (...reports: readonly object[]): Answer['usage'] => answer(say('x') + stop + reports.map((report) => frame({ choices: [], usage: report })).join('')).usage;
  const none = { promptTokens: null, completionTokens: null, totalTokens: null, reasoningTokens: null, cachedTokens: null };

  test('the last number wins, and no report takes one away', () => {
    expect(usage({ prompt_tokens: 5, completion_tokens: 1 }, { completion_tokens: 3 }, {}, { prompt_tokens: null })).toEqual({ ...none, promptTokens: 5, completionTokens: 3 });
  });

  test('a report of nothing but zeros takes nothing away, and stays where it is the only one', () => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    expect(usage({ prompt_tokens: 5, completion_tokens: 3 }, zeros)).toEqual({ ...none, promptTokens: 5, completionTokens: 3 });
    expect(usage(zeros, zeros)).toEqual({ ...none, promptTokens: 0, completionTokens: 0, totalTokens: 0 });
    expect(usage({ prompt_tokens: 5, completion_tokens: 3 }, { prompt_tokens: 5, completion_tokens: 0 })?.completionTokens).toBe(0);
  });

  test.each(['-1', '1.5', '1e400', '"7"', 'null', '1e30'])('%s is no number of tokens', (tokens) => {
    const report = `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":${tokens}}}\n\n`;
    expect(answer(say('x') + stop + report).usage).toEqual({ ...none, promptTokens: 5 });
  });

  test('other names and places', () => {
    expect(usage({ input_tokens: 1, output_tokens: 2, output_tokens_details: { reasoning_tokens: 3 }, prompt_cache_hit_tokens: 4 })).toEqual({
      promptTokens: 1, completionTokens: 2, totalTokens: null, reasoningTokens: 3, cachedTokens: 4,
    });
    expect(answer(say('x') + stop + frame({ choices: [], x_groq: { usage: { total_tokens: 9 } } })).usage?.totalTokens).toBe(9);
    expect(usage()).toBeNull();
  });
});

test('log probabilities of several frames are joined', () => {
  const withLogprobs = (token: string): string => choice({ delta: { content: token }, logprobs: { content: [{ token }] } });
  expect(answer(withLogprobs('a') + withLogprobs('b') + stop).logprobs).toEqual({ content: [{ token: 'a' }, { token: 'b' }] });
});

test('log probabilities of a long answer are joined in the lists that there are, not copied', () => {
  const fold = createFold('a');
  const entry = (at: number): object => ({ token: String(at) });
  const listOf = (): unknown[] => (fold.answer().logprobs as { content: unknown[] }).content;
  const first = { content: [entry(0)], refusal: null };
  fold.add({ type: 'logprobs', logprobs: first });
  const list = listOf();
  for (let at = 1; at < 20_000; at += 1) fold.add({ type: 'logprobs', logprobs: { content: [entry(at)], refusal: null } });
  expect(listOf()).toBe(list);
  expect(list).toEqual(Array.from({ length: 20_000 }, (_, at) => entry(at)));
  expect(first.content).toHaveLength(1);
});
