import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { defineTool, responseFormat, toolCallsOf, toolMessage } from '../../lib/index.js';
import type { StandardJsonSchema, StandardSchema } from '../../lib/index.js';
import { responseWith } from './responseWith.js';

const weather = defineTool({ name: 'weather', description: 'the weather now', parameters: z.object({ city: z.string().describe('where'), days: z.coerce.number().default(1) }) });
const search = defineTool({ name: 'search', parameters: z.object({ query: z.string(), filters: z.array(z.object({ site: z.string().nullable() })) }), strict: true });

const callsOf = (...calls: [name: string, args: string][]): ReturnType<typeof responseWith> =>
  responseWith({ toolCalls: calls.map(([name, args], at) => ({ id: `call_${at}`, name, arguments: args })) });

describe('defineTool', () => {
  test('gives what a request takes: the JSON Schema of what the model has to write', () => {
    expect(weather.definition).toEqual({
      type: 'function',
      function: {
        name: 'weather',
        description: 'the weather now',
        parameters: { type: 'object', properties: { city: { type: 'string', description: 'where' }, days: { type: 'number', default: 1 } }, required: ['city'] },
      },
    });
  });

  test('a strict one takes no other fields, at no depth', () => {
    const filter = { type: 'object', properties: { site: { type: ['string', 'null'] } }, required: ['site'], additionalProperties: false };
    expect(search.definition.function).toEqual({
      name: 'search',
      strict: true,
      parameters: { type: 'object', properties: { query: { type: 'string' }, filters: { type: 'array', items: filter } }, required: ['query', 'filters'], additionalProperties: false },
    });
  });

  const written = { type: 'object', properties: { city: { type: 'string' } } };
  const plain: StandardSchema = mini.object({ city: mini.string() });

  test('a JSON Schema by hand is taken as it is', () => {
    expect(defineTool({ name: 'plain', parameters: plain, jsonSchema: written, strict: true }).definition.function.parameters).toBe(written);
  });

  const untyped = plain as StandardSchema & StandardJsonSchema;
  test.each([
    ['no JSON Schema', untyped, false, 'the schema of the tool t (zod) cannot be written as JSON Schema by itself, as those of zod can from 4.2 on: give jsonSchema beside it'],
    ['a type that JSON does not have', z.object({ day: z.date() }), false, 'the schema of the tool t (zod) cannot be written as JSON Schema: Date cannot be represented in JSON Schema: give jsonSchema beside it'],
    ['no object', z.union([z.string(), z.number()]), false, 'the schema of the tool t has to be an object, which is what providers take: put what it is into a field of an object'],
    ['optional fields, strict', z.object({ a: z.string().optional(), b: z.array(z.object({ type: z.int().optional() })) }), true, 'the schema of the tool t has optional fields (b.type, a), and strict: true takes none: make them nullable, or say strict: false'],
    ['any fields, strict', z.object({ a: z.record(z.string(), z.number()), b: z.array(z.looseObject({ c: z.string() })) }), true, 'the schema of the tool t has objects that take any field (a, b), and strict: true takes none: list their fields, or say strict: false'],
    ['any type, strict', z.object({ a: z.any(), b: z.array(z.unknown()) }), true, 'the schema of the tool t has values of any type (a, b), and strict: true takes none: say what they are, or say strict: false'],
    ['an open object that others share, strict', z.object({ a: z.json() }), true, 'the schema of the tool t has objects that take any field (__schema0), and strict: true takes none: list their fields, or say strict: false'],
  ])('%s is refused, and the message says what to do', (_what, parameters, strict, message) => {
    expect(() => defineTool({ name: 't', parameters, strict })).toThrow(expect.objectContaining({ code: 'config', message }));
  });
});

test('what is no schema in a schema is left as it is: examples, defaults, constants', () => {
  const value = { type: 'object', properties: { q: 1 } };
  const parameters = z.object({ a: z.string().meta({ examples: [value] }), b: z.literal('x'), c: z.enum(['y']), d: z.null(), e: z.tuple([z.string()]) });
  expect(defineTool({ name: 't', parameters, strict: true }).definition.function.parameters).toMatchObject({ additionalProperties: false, properties: { a: { type: 'string', examples: [value] } } });
});

test('responseFormat asks for JSON of a schema, strictly unless it is told not to', () => {
  expect(responseFormat(z.object({ a: z.string() }), 'thing', { description: 'a thing' })).toEqual({
    type: 'json_schema',
    json_schema: { name: 'thing', description: 'a thing', strict: true, schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false } },
  });
  expect(responseFormat(z.object({ a: z.string().optional() }), 'thing', { strict: false }).json_schema).toEqual({ name: 'thing', strict: false, schema: { type: 'object', properties: { a: { type: 'string' } } } });
});

describe('toolCallsOf', () => {
  test('gives the arguments as the schema of each tool gives them, in the order of the calls', () => {
    const calls = toolCallsOf(callsOf(['search', '{"query":"q","filters":[]}'], ['weather', '{"city":"Oslo","days":"2"}'], ['weather', '{"city":"Rome"}']), [weather, search]);
    expect(calls).toEqual([
      { type: 'call', id: 'call_0', name: 'search', args: { query: 'q', filters: [] } },
      { type: 'call', id: 'call_1', name: 'weather', args: { city: 'Oslo', days: 2 } },
      { type: 'call', id: 'call_2', name: 'weather', args: { city: 'Rome', days: 1 } },
    ]);
  });

  test('what cannot be run comes with the message that tells the model why', () => {
    const calls = toolCallsOf(callsOf(['wether', '{}'], ['weather', '{"city":'], ['search', '{"query":1,"filters":[{}]}']), [weather, search]);
    expect(calls.map((call) => (call.type === 'invalid' ? [call.name, call.problem, call.message] : call))).toEqual([
      ['wether', 'unknown-tool', { role: 'tool', tool_call_id: 'call_0', content: 'There is no tool "wether". The tools are: weather, search.' }],
      ['weather', 'not-json', { role: 'tool', tool_call_id: 'call_1', content: expect.stringMatching(/^The arguments of weather are not JSON.*\. Call it again with a JSON object\.$/) }],
      ['search', 'wrong-arguments', { role: 'tool', tool_call_id: 'call_2', content: expect.stringMatching(/^The arguments of search do not fit:\n- query: .+\n- filters\.0\.site: .+\nCall it again with arguments that do\.$/) }],
    ]);
  });

  test('no arguments at all are an object without fields', () => {
    const now = defineTool({ name: 'now', parameters: z.object({}) });
    expect(toolCallsOf(callsOf(['now', '']), [now])).toEqual([{ type: 'call', id: 'call_0', name: 'now', args: {} }]);
  });

  const answers: Record<string, StandardSchema['~standard']['validate']> = {
    'takes its time': () => Promise.resolve({ value: 1 }),
    'takes its time and fails': () => Promise.reject(new Error('secret')),
    throws: () => { throw new Error('secret'); },
    'says nothing': () => undefined as never,
  };
  test.each(Object.entries(answers))('a check that %s is told as one that could not be made, and ends neither the loop nor the process', (_what, validate) => {
    const parameters: StandardSchema = { '~standard': { version: 1, vendor: 'own', validate } };
    const own = defineTool({ name: 'own', parameters, jsonSchema: { type: 'object' } });
    const content = 'The arguments of own could not be checked. Call it again with other arguments.';
    expect(toolCallsOf(callsOf(['own', '{}']), [own])).toEqual([{ type: 'invalid', id: 'call_0', name: 'own', problem: 'unchecked', message: { role: 'tool', tool_call_id: 'call_0', content } }]);
  });

  test('a transform that throws spoils one call, not the others', () => {
    const open = defineTool({ name: 'open', parameters: z.object({ url: z.string().transform((text) => new URL(text).host) }) });
    const calls = toolCallsOf(callsOf(['open', '{"url":"nope"}'], ['open', '{"url":"http://a.b/"}']), [open]);
    expect(calls).toMatchObject([{ type: 'invalid', problem: 'unchecked' }, { type: 'call', args: { url: 'a.b' } }]);
  });

  test('however much is wrong, the model is told the first of it', () => {
    const list = defineTool({ name: 'list', parameters: z.object({ items: z.array(z.number()), ['x'.repeat(2000)]: z.number() }) });
    const [call] = toolCallsOf(callsOf(['list', JSON.stringify({ items: Array.from({ length: 20_000 }, () => 'x') })]), [list]);
    const lines = JSON.stringify(call?.type === 'invalid' && call.message.content).slice(1, -1).split('\\n');
    expect([lines.length, lines[1], lines[21]]).toEqual([23, expect.stringMatching(/^- items\.0: /), '- and 19981 more']);
    const [none] = toolCallsOf(callsOf(['n'.repeat(100_000), '{}']), [list]);
    expect(JSON.stringify(none?.type === 'invalid' && none.message).length).toBeLessThan(1000);
  });

  test('calls of custom tools, whose input is free text, are left to whoever offers such tools', () => {
    const response = responseWith({ toolCalls: [{ id: '1', name: 'shell', arguments: 'ls', custom: true }, { id: '2', name: 'weather', arguments: '{"city":"Oslo"}' }] });
    expect(toolCallsOf(response, [weather])).toMatchObject([{ type: 'call', id: '2' }]);
  });
});

test('toolMessage takes texts as they are, and writes anything else as JSON', () => {
  const contentOf = (result: unknown): unknown => toolMessage({ id: 'c' }, result).content;
  const nothing = [undefined, null, () => 1, Symbol('x'), { toJSON: () => undefined }];
  expect(['rain', { rain: true }, 3, ...nothing].map(contentOf)).toEqual(['rain', '{"rain":true}', '3', ...nothing.map(() => 'null')]);
});
