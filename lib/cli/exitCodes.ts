import { codeOf } from '../model/errors.js';

/** What the program tells the shell; 128 + number where a signal ended it. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, refused: 3 } as const;

/** The exit code of a command that ended with this error. */
export function exitCodeOf(error: unknown): number {
  switch (codeOf(error)) {
    case 'wrong_use':
    case 'timeline':
      return exitCodes.wrongUse;
    case 'config':
      return exitCodes.refused;
    default:
      return exitCodes.failed;
  }
}
