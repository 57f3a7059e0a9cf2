import { types } from 'node:util';

export type Kind = 'primitive' | 'function' | 'list' | 'stream' | 'error' | 'date' | 'regexp' | 'map' | 'set' | 'bytes' | 'boxed' | 'pairs' | 'url' | 'object' | 'opaque';

/** Whatever realm it is from: a test runner may give a test one of its own, whose classes are others. */
export function kindOf(value: unknown): Kind {
  if (typeof value === 'function') return 'function';
  if (typeof value !== 'object' || value === null) return 'primitive';
  if (Array.isArray(value)) return value.length > 0 && value.every(isTold) ? 'stream' : 'list';
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return 'bytes';
  if (value instanceof Error || types.isNativeError(value) || tagOf(value) === 'DOMException') return 'error';
  if (types.isDate(value)) return 'date';
  if (types.isRegExp(value)) return 'regexp';
  if (types.isMap(value)) return 'map';
  if (types.isSet(value)) return 'set';
  if (types.isBoxedPrimitive(value)) return 'boxed';
  if (isIterable(value) && ['Headers', 'URLSearchParams', 'FormData'].includes(tagOf(value))) return 'pairs';
  if (tagOf(value) === 'URL' && 'href' in value) return 'url';
  const hasFields = tagOf(value) === 'Object' ? fieldNamesOf(value).length > 0 : Object.keys(value).length > 0;
  return isPlain(value) || hasFields ? 'object' : 'opaque';
}

export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** No class made it, so that nothing of it is hidden. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function fieldNamesOf(value: object): readonly (string | symbol)[] {
  const symbols = Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
  return [...Object.keys(value), ...symbols];
}

/** A value, an error or an end of a stream, in the form that RxJS gives to a `TestScheduler`'s comparison. */
export interface Told {
  readonly frame: number;
  readonly notification: { readonly kind: 'N' | 'E' | 'C'; readonly value?: unknown; readonly error?: unknown };
}

export function isTold(item: unknown): item is Told {
  return typeof item === 'object' && item !== null && 'frame' in item && 'notification' in item;
}

/** What of an error counts: a class, a stack or a cause tells no test what a caller could match on. */
export function errorFields(error: unknown): { name: unknown; code: unknown; message: unknown } {
  const { name, code, message } = error as { name: unknown; code?: unknown; message: unknown };
  return { name, code, message };
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}
