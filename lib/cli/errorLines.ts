import { codeOf, messageOf } from '../model/errors.js';
import type { AllSourcesExhausted } from '../model/errors.js';
import { shortened } from '../model/firstOf.js';
import { maskSecrets } from '../model/mask.js';
import { adviceFor } from './advice.js';
import type { Paint } from './paint.js';
import { plain } from './plain.js';

export interface ErrorLinesOptions {
  readonly paint: Paint;
  /** Known keys, which go whatever they look like. */
  readonly secrets?: readonly string[];
  /** Every cause below, one a line. */
  readonly verbose?: boolean;
}

const mostCauses = 8;
/** Of causes in the first line; `verbose` has them whole. */
const mostTold = 2;
const longestTold = 200;

/** An error for people in one line: code, message, the root of it, and what to do. Several problems follow it, one a line each. No stack, no key. */
export function errorLines(error: unknown, { paint, secrets = [], verbose = false }: ErrorLinesOptions): string[] {
  const { code, reason } = codesOf(error);
  const problems = problemsOf(error);
  const text = problems.length > 1 ? `${problems.length} settings are wrong` : withRoot(error, (words) => maskSecrets(words, secrets));
  const sentence = [text.replace(/[.;:]$/, ''), adviceFor({ code, reason })].filter(Boolean).join('; ');
  return [
    `${paint('red', 'error')} ${[code, reason].filter(Boolean).join(': ')}${code === undefined ? '' : ' '}- ${sentence}`,
    ...(problems.length > 1 ? problems.map((problem) => `  - ${plain(problem)}`) : []),
    ...(verbose ? causesOf(error).map((cause) => `  ${paint('dim', 'cause')}: ${oneLine(cause)}`) : []),
  ].map((line) => maskSecrets(line, secrets));
}

/** The same facts for `--json`. */
export function errorJson(error: unknown, secrets: readonly string[] = []): Record<string, unknown> {
  const { code, reason } = codesOf(error);
  const todo = adviceFor({ code, reason });
  return {
    code: code ?? null,
    ...(reason === undefined ? {} : { reason }),
    message: maskSecrets(messageOf(error), secrets),
    ...(todo === undefined ? {} : { whatToDo: todo }),
    causes: causesOf(error).map((cause) => maskSecrets(oneLine(cause), secrets)),
  };
}

/** The message, and what lies at the bottom of it where that says more. */
function withRoot(error: unknown, mask: (words: string) => string): string {
  const message = plain(messageOf(error));
  const told = [...new Set(rootsOf(error, [error]).map(wordsOf))].filter((words) => words !== '' && !message.includes(words));
  return [message, ...(told.length === 0 ? [] : [told.slice(0, mostTold).map((words) => shortened(mask(words), longestTold)).join(' / ')])].join(': ');
}

/** The innermost cause of each branch; where the error around it quotes it, that one, since it says more. */
function rootsOf(error: unknown, path: readonly unknown[]): unknown[] {
  return directCauses(error).filter((cause) => !path.includes(cause)).flatMap((cause) => {
    const deeper = path.length > mostCauses ? [] : rootsOf(cause, [...path, cause]);
    if (deeper.length === 0) return [cause];
    return isBundle(cause) ? deeper : deeper.map((root) => (wordsOf(cause).includes(wordsOf(root)) ? cause : root));
  });
}

/** Each of several settings that are wrong. */
function problemsOf(error: unknown): readonly string[] {
  return typeof error === 'object' && error !== null && 'problems' in error && Array.isArray(error.problems) ? error.problems.map(String) : [];
}

function wordsOf(error: unknown): string {
  return plain(messageOf(error)) || (codeOf(error) ?? '');
}

/** The chain of causes, with both branches where two attempts failed; nearest first. */
function causesOf(error: unknown): unknown[] {
  const found: unknown[] = [];
  const waiting = directCauses(error);
  for (let next = waiting.shift(); next !== undefined && found.length < mostCauses; next = waiting.shift()) {
    if (found.includes(next)) continue;
    const inner = directCauses(next);
    if (!isBundle(next)) found.push(next);
    waiting.unshift(...inner);
  }
  return found;
}

function directCauses(error: unknown): unknown[] {
  if (typeof error !== 'object' || error === null) return [];
  const bundled = isBundle(error) ? error.errors : [];
  return 'cause' in error && error.cause !== undefined ? [...bundled, error.cause] : bundled;
}

/** By its shape: an AggregateError of Node's core is not always an instance of ours. */
function isBundle(error: unknown): error is { errors: unknown[] } {
  return typeof error === 'object' && error !== null && 'errors' in error && Array.isArray(error.errors) && error.errors.length > 0;
}

function oneLine(error: unknown): string {
  const code = codeOf(error);
  const text = plain(messageOf(error));
  return code === undefined || text.includes(code) ? text : `${code} - ${text}`;
}

function codesOf(error: unknown): { code: string | undefined; reason: string | undefined } {
  const code = codeOf(error);
  return { code, reason: code === 'all_sources_exhausted' ? (error as Partial<AllSourcesExhausted>).reason : undefined };
}
