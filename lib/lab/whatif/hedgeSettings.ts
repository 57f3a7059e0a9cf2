import type { Thresholds } from './whatIf.js';

/** The lines to write into the environment of a scope. */
export function hedgeSettings({ hedgeAfterMs, hedgeStallAfterMs }: Thresholds, scope: string): string[] {
  const prefix = `${scope.toUpperCase()}__HEDGE__`;
  return [
    ...(hedgeAfterMs === null ? [] : [`${prefix}AFTER_S=${hedgeAfterMs / 1000}`]),
    ...(hedgeStallAfterMs === null ? [] : [`${prefix}STALL_AFTER_S=${hedgeStallAfterMs / 1000}`]),
  ];
}
