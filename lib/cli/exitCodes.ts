import { WrongUse } from './wrongUse.js';

/** What the program tells the shell; 128 + number where a signal ended it. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, refused: 3 } as const;

/** The exit code of a command that ended with this error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof WrongUse) return exitCodes.wrongUse;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'timeline') return exitCodes.wrongUse;
  return code === 'config' ? exitCodes.refused : exitCodes.failed;
}
