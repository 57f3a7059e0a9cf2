import { codeOf, messageOf } from '../model/errors.js';
import type { AllSourcesExhausted } from '../model/errors.js';
import { maskSecrets } from '../model/mask.js';
import { adviceFor } from './advice.js';
import type { Paint } from './paint.js';

export interface ErrorLinesOptions {
  readonly paint: Paint;
  /** Known keys, which go whatever they look like. */
  readonly secrets?: readonly string[];
}

const mostCauses = 8;

/** An error for people: code and message, what to do, and each cause in one line. No stack, no key. */
export function errorLines(error: unknown, { paint, secrets = [] }: ErrorLinesOptions): string[] {
  const mask = (text: string): string => maskSecrets(text, secrets);
  const { code, reason } = codesOf(error);
  const todo = adviceFor({ code, reason });
  return [
    `${paint('red', 'error')} ${[code, reason].filter(Boolean).join(': ')}${code === undefined ? '' : ' '}- ${mask(messageOf(error))}`,
    ...(todo === undefined ? [] : [`  ${paint('bold', 'what to do')}: ${todo}`]),
    ...causesOf(error).map((cause) => `  ${paint('dim', 'cause')}: ${mask(oneLine(cause))}`),
  ];
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
  const text = messageOf(error).replace(/\s+/g, ' ').trim();
  return code === undefined || text.includes(code) ? text : `${code} - ${text}`;
}

function codesOf(error: unknown): { code: string | undefined; reason: string | undefined } {
  const code = codeOf(error);
  return { code, reason: code === 'all_sources_exhausted' ? (error as Partial<AllSourcesExhausted>).reason : undefined };
}
