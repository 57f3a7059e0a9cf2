import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

// That these types hold, and that each `@ts-expect-error` is needed, `npm run typecheck` proves: as strict as this project, and as its users may be.

const file = fileURLToPath(new URL('./written.ts', import.meta.url));
const text = `
  import type { ChatRequest, LooseChatRequest } from '../../lib/model/request.js';
  const part: ChatRequest = { messages: [{ role: 'user', content: [{ type: '' /*part*/ }] }] };
  const request: ChatRequest = { messages: [{ role: '' /*role*/ }], tool_choice: '' /*choice*/, response_format: { type: '' /*format*/ } };
  const asked: LooseChatRequest = { messages: [{ role: '' /*asked role*/ }], tool_choice: '' /*asked choice*/, response_format: { type: '' /*asked format*/ } };
`;

const textOf = (path: string): string | undefined => (path === file ? text : ts.sys.readFile(path));
const service = ts.createLanguageService({
  getCompilationSettings: () => ({ strict: true, module: ts.ModuleKind.NodeNext, lib: ['lib.es2023.d.ts'], types: [] }),
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot: (path) => {
    const known = textOf(path);
    return known === undefined ? undefined : ts.ScriptSnapshot.fromString(known);
  },
  getCurrentDirectory: () => fileURLToPath(new URL('.', import.meta.url)),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (path) => path === file || ts.sys.fileExists(path),
  readFile: textOf,
});

/** What an editor offers between the quotes before a mark. */
const offeredAt = (mark: string): string[] | undefined => service.getCompletionsAtPosition(file, text.indexOf(`' /*${mark}*/`), {})?.entries.map(({ name }) => name);

const roles = ['assistant', 'developer', 'function', 'system', 'tool', 'user'];
const choices = ['auto', 'none', 'required'];
const formats = ['json_object', 'json_schema', 'text'];

test.each([
  ['role', roles],
  ['part', ['file', 'image_url', 'input_audio', 'text']],
  ['choice', choices],
  ['format', formats],
  // What chat$ takes, though it takes other words too.
  ['asked role', roles],
  ['asked choice', choices],
  ['asked format', formats],
])('an editor offers what may be written: %s', (mark, words) => {
  expect(offeredAt(mark)?.sort()).toEqual(words);
});
