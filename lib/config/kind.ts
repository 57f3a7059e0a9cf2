/** What became of a value: usable, perhaps with something to tell about it, or refused with the reason and the remedy. */
export type Reading<T> = { value: T; notice?: string } | { problem: string };

/** One sort of setting: how a text of the environment is understood, and which values are accepted. */
export interface Kind<T> {
  /** The value is never shown in a message. */
  readonly secret?: true;
  /** The value that a text stands for; the text itself where it cannot be understood, which `read` then refuses. */
  readonly fromText: (text: string) => unknown;
  /** Reading what was read once gives the same again, so that the environment and a literal are checked alike. */
  readonly read: (value: unknown) => Reading<T>;
}

/** Whether a value is an object with fields, and not an array, a `Map`, a `Headers` or the like. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}
