import { differencesOf } from './differencesOf.js';
import type { Difference } from './differencesOf.js';
import { showValue } from './showValue.js';

/** A value, an error or an end of a stream, in the form that RxJS gives to a `TestScheduler`'s comparison. */
export interface Told {
  readonly frame: number;
  readonly notification: { readonly kind: 'N' | 'E' | 'C'; readonly value?: unknown; readonly error?: unknown };
}

/** How two that may stand at different times differ. */
export function differencesOfTold({ notification: actual }: Told, { notification: expected }: Told): readonly Difference[] {
  if (actual.kind !== expected.kind) return [{ path: '', expected, actual }];
  return expected.kind === 'N' ? differencesOf(actual.value, expected.value) : differencesOf(actual.error, expected.error);
}

export function isSameTold(actual: Told, expected: Told): boolean {
  return differencesOfTold(actual, expected).length === 0;
}

/** A delta of text, which a whole tells better than its fields. */
export function isDelta(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && 'text' in value && Object.keys(value).length <= 3;
}

export function showTold({ notification: { kind, value, error } }: Told): string {
  if (kind === 'C') return 'the end';
  return kind === 'N' ? showValue(value) : `the error ${showValue(error)}`;
}
