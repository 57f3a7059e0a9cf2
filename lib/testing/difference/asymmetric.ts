/** A value that decides itself what it equals, as jest's `expect.any(…)` does; those of every framework are honoured. */
export interface AsymmetricMatcher {
  /** Whether it stands for this value. */
  asymmetricMatch(other: unknown): boolean;
}

/** Of `T` any fields, however deep, and in the place of any value a matcher. Lists are whole, their elements are partial. */
export type PartialOf<T> =
  | AsymmetricMatcher
  | (T extends readonly (infer E)[] ? readonly PartialOf<E>[] : T extends object ? { readonly [K in keyof T]?: PartialOf<T[K]> } : T);

/** What `like` makes: equals everything that has the fields of `partial`. */
export interface Like<T = unknown> extends AsymmetricMatcher {
  readonly partial: T;
}

/** The same in every copy of this library. */
export const likeMark = Symbol.for('polygateway.like');

export function isLike(value: unknown): value is Like {
  return typeof value === 'object' && value !== null && likeMark in value;
}

export function isAsymmetric(value: unknown): value is AsymmetricMatcher {
  return typeof value === 'object' && value !== null && 'asymmetricMatch' in value && typeof value.asymmetricMatch === 'function';
}
