import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { describeSettings } from '../lib/index.js';
import { compileExamples } from './support/compileExamples.js';
import { examplesOf, publicDocs } from './support/publicDocs.js';
import type { PublicDoc } from './support/publicDocs.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const entries = {
  polygateway: `${root}lib/index.ts`,
  'polygateway/operators': `${root}lib/operators/index.ts`,
  'polygateway/testing': `${root}lib/testing/index.ts`,
};

/** What examples may use without saying where it comes from. */
const declared = `
import { z } from 'zod';
declare const gateway: TestGateway<'slow' | 'fast' | 'spare'>;
declare const settings: GatewaySettings;
declare const error: unknown;
declare const embedding: Embedding;
declare const ocr: Ocr;
declare const messages: { role: 'user'; content: string }[];
declare const request: ChatRequest;
declare const response: ChatResponse;
declare const source: Source;
declare const weather: Tool<'weather', z.ZodObject<{ city: z.ZodString }>>;
declare const search: Tool<'search', z.ZodObject<{ query: z.ZodString }>>;
declare const forecast: (city: string) => unknown;
declare const find: (query: string) => unknown;
declare const run: (call: ValidToolCall) => unknown;
declare const log: (delta: ChatDelta) => void;
declare const calls: ValidToolCall[];
declare const document_url: string, image_url: string;
declare const delta$: Observable<ChatDelta>;
declare const value$: Observable<number>;
declare const ask: (where: string) => Observable<string>;
declare const encoder: TextEncoder;
declare const testScheduler: TestScheduler;
declare const expectObservable: RunHelpers['expectObservable'];
declare const expectSubscriptions: RunHelpers['expectSubscriptions'];
declare const test: (title: string, body: () => void) => void;
`;

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  types: ['node'],
  paths: { polygateway: [entries.polygateway], 'polygateway/operators': [entries['polygateway/operators']], 'polygateway/testing': [entries['polygateway/testing']] },
};

/** Bodies in the words of OpenAI, whose fields are explained there. */
const openAiBodies = /: (ChatParameters|ChatRequest|LooseChatRequest|ValidRequest|AssistantMessage|CompletionUsage)\./;

/** How a docstring says it, or the name itself, or the docstring of the whole type. */
const means = {
  default: /default|absent|left out|optional|where|while|if |Only /i,
  null: /null/,
  unit: /(Ms|S|Chars|Ratio|Bytes)\b|millisecond|second|\bms\b|from [01]|count|number|how many|tokens|share|index/i,
};

const docs = publicDocs(ts.createProgram(Object.values(entries), options), entries);
const names = (those: readonly PublicDoc[]): string[] => those.map(({ name }) => name);

describe('docstrings of the public names', () => {
  test('every name has one, which begins with a sentence', () => {
    expect(names(docs.filter(({ kind, text }) => kind !== 'field' && kind !== 'method' && !/^\S[^]*?[.:;]/.test(text)))).toEqual([]);
  });

  test('every function has an example of at most six lines', () => {
    const wrong = docs.filter(({ kind, text }) => kind === 'function' && !examplesOf(text).some((code) => code.split('\n').length <= 6));
    expect(names(wrong)).toEqual([]);
  });

  test('whatever gives a stream says what unsubscribing does', () => {
    expect(names(docs.filter(({ isStream, text, above }) => isStream && !/unsubscri|cancel|leaves/i.test(text + above)))).toEqual([]);
  });

  test('every method of a public type has one', () => {
    expect(names(docs.filter(({ name, kind, text, above }) => kind === 'method' && text === '' && !above.includes(`\`${name.split('.').at(-1)}\``)))).toEqual([]);
  });

  test('every optional field says what its absence means, every figure its unit, every null what it means', () => {
    const unsaid = docs.flatMap(({ name, kind, text, above, needs }) => {
      const said = `${name} ${text} ${above}`;
      return kind === 'field' && !openAiBodies.test(name) ? needs.filter((need) => !means[need].test(said)).map((need) => `${name}: ${need}`) : [];
    });
    expect(unsaid).toEqual([]);
  });

  test('of a setting, what an editor shows is what `describeSettings` says', () => {
    const shown = new Map(docs.map(({ name, text }) => [name.replace(/^polygateway: (?:GatewaySettings|SourceSettings)\./, ''), text.replace(/\s+/g, ' ')]));
    const rows = describeSettings().map(({ field, what, default: byDefault }) => [field, byDefault === 'required' ? what : `${what} Default: ${byDefault}.`] as const);
    expect(rows.map(([field]) => [field, shown.get(field)])).toEqual(rows);
  });

  test('every example compiles', () => {
    const all = docs.flatMap(({ name, text }) => examplesOf(text).map((code, at) => [`${name} ${at + 1}`, code] as const));
    const isJson = (code: string): boolean => code.startsWith('{');
    // One docstring stands under several names.
    const examples = all.filter(([, code], at) => !isJson(code) && all.findIndex(([, other]) => other === code) === at);
    for (const [, code] of all) if (isJson(code)) expect(JSON.parse(code)).toBeDefined();
    const modules = ['polygateway', 'polygateway/operators', 'polygateway/testing', 'rxjs', 'rxjs/testing'];
    expect(compileExamples(Object.fromEntries(examples), { modules, declared, options, folder: `${root}spec` })).toEqual({});
    expect(examples.length).toBeGreaterThan(20);
  }, 60_000);
});
