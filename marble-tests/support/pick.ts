/** Of `value` the fields that `shape` has, however deep; so that a test names what it is about and nothing else. */
export function pick(value: unknown, shape: unknown): unknown {
  if (!isPlain(shape) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.keys(shape).map((key) => [key, pick((value as Record<string, unknown>)[key], shape[key])]));
}

function isPlain(shape: unknown): shape is Record<string, unknown> {
  return typeof shape === 'object' && shape !== null && Object.getPrototypeOf(shape) === Object.prototype;
}
