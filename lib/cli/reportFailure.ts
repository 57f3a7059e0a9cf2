import { errorJson, errorLines } from './errorLines.js';
import { exitCodeOf } from './exitCodes.js';
import { secretsInEnv } from './secretsInEnv.js';
import type { Terminal } from './terminal.js';

export interface FailureOptions {
  readonly terminal: Terminal;
  /** On standard output as JSON instead of on standard error as text. */
  readonly json?: boolean;
}

/** Prints an error, with every cause if the user has asked for it; gives the exit code. */
export function reportFailure(error: unknown, { terminal: { out, err, env, verbose }, json = false }: FailureOptions): number {
  const secrets = secretsInEnv(env);
  if (json) out.line(JSON.stringify({ error: errorJson(error, secrets) }, null, 2));
  else for (const line of errorLines(error, { paint: err.paint, secrets, verbose: verbose === true })) err.line(line);
  return exitCodeOf(error);
}
