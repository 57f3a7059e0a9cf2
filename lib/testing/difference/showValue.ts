import { errorFields, isPlain, kindOf, tagOf } from './kindOf.js';
import type { Told } from './kindOf.js';
import { isAsymmetric, isLike } from './asymmetric.js';
import { showStream } from './showStream.js';

/** Long enough for a sentence, short enough for a line with two of them. */
const lineOf = 60;

/** A value on one line, at most about `maxChars` long; of deltas and responses only what tells them apart. */
export function showValue(value: unknown, maxChars: number = lineOf): string {
  return cut(show(value, maxChars, 0), maxChars);
}

/** A text in quotes, with everything escaped that would not be seen or would break the line. */
export function showText(text: string, maxChars: number = lineOf): string {
  const chars = Array.from(text);
  return quote(chars.length <= maxChars ? text : `${chars.slice(0, maxChars - 1).join('')}…`);
}

function show(value: unknown, maxChars: number, depth: number): string {
  if (typeof value === 'string') return showText(value, Math.max(8, maxChars - 2));
  if (isLike(value)) return `like ${show(value.partial, maxChars, depth)}`;
  if (isAsymmetric(value)) return showMatcher(value);
  switch (kindOf(value)) {
    case 'primitive':
      return typeof value === 'bigint' ? `${value}n` : Object.is(value, -0) ? '-0' : String(value);
    case 'function':
      return `function ${(value as { name: string }).name}`.trim();
    case 'error':
      return showError(value);
    case 'date':
      return Number.isNaN((value as Date).getTime()) ? 'an invalid date' : (value as Date).toISOString();
    case 'regexp':
      return String(value);
    case 'boxed':
      return `${tagOf(value)} ${show((value as object).valueOf(), maxChars, depth)}`;
    case 'url':
      return `URL ${showText((value as URL).href, maxChars)}`;
    case 'stream':
      return showStream(value as readonly Told[], (one) => show(one, maxChars, depth + 1));
    case 'list':
      return showList(value as unknown[], maxChars, depth);
    case 'set':
      return `Set ${showList([...(value as Set<unknown>)], maxChars, depth)}`;
    case 'map':
    case 'pairs':
      return `${tagOf(value)} ${showFields([...(value as Map<unknown, unknown>)].map(([key, one]) => [showValue(key), one]), maxChars, depth)}`;
    case 'bytes':
      return `${tagOf(value)} of ${(value as ArrayBufferView).byteLength} bytes`;
    case 'object':
    case 'opaque':
      return showKnown(value as Record<string, unknown>) ?? `${classOf(value as object)}${showFields(Object.entries(value as object), maxChars, depth)}`;
  }
}

function showMatcher(matcher: object): string {
  const told = 'toAsymmetricMatcher' in matcher && typeof matcher.toAsymmetricMatcher === 'function' ? (matcher.toAsymmetricMatcher as () => unknown)() : undefined;
  if (typeof told === 'string') return told;
  const name = (matcher as { readonly toString: () => string }).toString();
  const sample = 'sample' in matcher ? ` ${showValue(matcher.sample)}` : '';
  return name.startsWith('[object') ? `what a matcher accepts${sample}` : `${name}${sample}`;
}

function classOf(value: object): string {
  const name = isPlain(value) ? '' : (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && name !== '' ? `${name} ` : '';
}

function showError(error: unknown): string {
  const { name, code, message } = errorFields(error);
  return `${String(name)}${code === undefined ? '' : ` (${typeof code === 'string' ? code : showValue(code)})`} ${showText(String(message))}`;
}

/** What this library itself passes on is named by its kind. */
function showKnown(value: Record<string, unknown>): string | undefined {
  const { type, text, stats, content, source } = value;
  if (type === 'start' && 'callId' in value) return `start from ${showValue(source)}`;
  if (type === 'end' && 'response' in value) return `end with ${showValue(value['response'])}`;
  if (type === 'finish' && 'reason' in value) return `finish ${showValue(value['reason'])}`;
  if (type === 'tool-call' && 'arguments' in value) return `tool-call ${[value['index'], value['name'], value['arguments']].filter((part) => part !== undefined).map((part) => showValue(part)).join(' ')}`;
  if (typeof type === 'string' && typeof text === 'string') return `${type} ${showText(text)}`;
  if ('callId' in value && typeof stats === 'object' && typeof content === 'string') return `response ${showText(content, 40)} from ${showValue(source)}`;
  return undefined;
}

function showList(list: readonly unknown[], maxChars: number, depth: number): string {
  if (list.length === 0) return '[]';
  if (depth > 2) return `[${list.length} elements]`;
  return `[${list.slice(0, 8).map((one) => show(one, maxChars, depth + 1)).join(', ')}${list.length > 8 ? ', …' : ''}]`;
}

function showFields(entries: readonly (readonly [string, unknown])[], maxChars: number, depth: number): string {
  const known = entries.filter(([, one]) => one !== undefined);
  if (known.length === 0) return '{}';
  if (depth > 2) return '{ … }';
  return `{ ${known.slice(0, 12).map(([key, one]) => `${key}: ${show(one, maxChars, depth + 1)}`).join(', ')}${known.length > 12 ? ', …' : ''} }`;
}

/** `JSON.stringify` leaves the invisible ones above ASCII as they are. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u00a0\u00ad\u2000-\u200f\u2028-\u202e\u202f\u205f-\u2069\u3000\ufeff]/g, escape);
}

/** With everything escaped that is not ASCII, for two that look the same. */
export function showAscii(text: string): string {
  return quote(text).replace(/[^ -~]/g, escape);
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function cut(text: string, maxChars: number): string {
  const chars = Array.from(text);
  return chars.length <= maxChars + 2 ? text : `${chars.slice(0, maxChars).join('')}…`;
}
