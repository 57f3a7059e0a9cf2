import { differencesOf, same } from './differencesOf.js';
import type { Difference } from './differencesOf.js';
import type { Told } from './kindOf.js';
import { showValue } from './showValue.js';

export type { Told };

/** How two that may stand at different times differ. */
export function differencesOfTold({ notification: actual }: Told, { notification: expected }: Told): readonly Difference[] {
  if (actual.kind !== expected.kind) return [{ path: '', expected, actual }];
  return expected.kind === 'N' ? differencesOf(actual.value, expected.value) : differencesOf(actual.error, expected.error);
}

export function isSameTold({ notification: actual }: Told, { notification: expected }: Told): boolean {
  if (actual.kind !== expected.kind) return false;
  return expected.kind === 'N' ? same(actual.value, expected.value) : same(actual.error, expected.error);
}

/** A delta of text, which a whole tells better than its fields. */
export function isDelta(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && 'text' in value && Object.keys(value).length <= 3;
}

export function showTold({ notification: { kind, value, error } }: Told): string {
  if (kind === 'C') return 'the end';
  return kind === 'N' ? showValue(value) : `the error ${showValue(error)}`;
}
