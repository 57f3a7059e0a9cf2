import { isAsymmetric } from './asymmetric.js';
import { kindOf } from './kindOf.js';
import type { Moment } from './momentsOf.js';

/** What to write instead, for what is commonly written by mistake. */
export function hintOf({ expected, actual }: Moment): readonly string[] {
  if (expected === undefined || actual === undefined || expected.notification.kind !== actual.notification.kind) return [];
  const [wanted, came] = [expected, actual].map(({ notification: { kind, value, error } }) => (kind === 'E' ? error : value));
  if (isAsymmetric(wanted)) return [];
  if (isResponse(came)) return ['A response has times and a callId of its own: expect like({ … }), which asks for the fields that matter, or map it to its content.'];
  if (kindOf(came) !== 'error' || kindOf(wanted) === 'error') return [];
  // What RxJS takes where no error was given.
  return [wanted === 'error' ? "The error is the third argument: toBe('#', undefined, like({ code: … }))." : 'To ask an error for some of its fields, expect like({ … }).'];
}

function isResponse(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'callId' in value && 'stats' in value && 'content' in value;
}
