import type { SlowAttempt } from '../../report/reportFigures.js';

const ends: Readonly<Record<NonNullable<SlowAttempt['errorClass']>, string>> = {
  hedge_cancelled: 'lost, cancelled',
  caller_cancelled: 'the caller left',
  deadline: 'stopped at the deadline',
  transient: 'failed: transient',
  rate_limited: 'failed: rate limited',
  source: 'failed: the source',
  request: 'failed: the request',
};

export const endWords = ({ won, errorClass }: SlowAttempt): string => (errorClass === null ? (won ? 'won' : 'answered, but lost') : ends[errorClass]);

/** `backup, for silence in mid-stream`. */
export function roleWords({ role, trigger }: SlowAttempt): string {
  if (trigger === null) return role;
  return `${role}, for ${trigger === 'stall' ? 'silence in mid-stream' : 'want of first words'}`;
}
