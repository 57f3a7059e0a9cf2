import { loadEnvFile } from 'node:process';
import { messageOf } from '../model/errors.js';
import { WrongUse } from './wrongUse.js';

/**
 * Puts the keys of a file into this process's environment; what is set already wins. Throws `WrongUse` if it cannot be
 * read. Some versions of Node 20 take `--env-file` for their own wherever it stands and do the same before we run.
 */
export function loadEnv(file: string | undefined): void {
  if (file === undefined) return;
  try {
    loadEnvFile(file);
  } catch (error: unknown) {
    throw new WrongUse(`--env-file ${file} cannot be read: ${messageOf(error)}`);
  }
}
