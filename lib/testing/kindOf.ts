export type Kind = 'primitive' | 'function' | 'list' | 'error' | 'date' | 'regexp' | 'map' | 'set' | 'bytes' | 'object';

const byTag: Readonly<Record<string, Kind>> = {
  Array: 'list',
  Error: 'error',
  DOMException: 'error',
  Date: 'date',
  RegExp: 'regexp',
  Map: 'map',
  Set: 'set',
};

/** By tags and not by classes: a test runner may give a test a realm of its own, whose classes are others. */
export function kindOf(value: unknown): Kind {
  if (typeof value === 'function') return 'function';
  if (typeof value !== 'object' || value === null) return 'primitive';
  if (ArrayBuffer.isView(value)) return 'bytes';
  if (value instanceof Error) return 'error';
  return byTag[Object.prototype.toString.call(value).slice(8, -1)] ?? 'object';
}

/** What of an error counts: a class, a stack or a cause tells no test what a caller could match on. */
export function errorFields(error: unknown): { name: unknown; code: unknown; message: unknown } {
  const { name, code, message } = error as { name: unknown; code?: unknown; message: unknown };
  return { name, code, message };
}
