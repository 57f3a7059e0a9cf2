import type { scopeSettings, sourceSettings } from './settings.js';

/** A setting that is checked but that this version does not act on. */
interface NotYet<F> {
  readonly field: F;
  /** The value that says what is done anyway, and so needs no warning. */
  readonly unless?: unknown;
}

/** Each governor that arrives takes its lines out of these two lists. */
export const notYetInScope: readonly NotYet<keyof typeof scopeSettings>[] = [{ field: 'backendLeaseTtlS' }, { field: 'backendUrl' }];

export const notYetInSource: readonly NotYet<keyof typeof sourceSettings>[] = [];
