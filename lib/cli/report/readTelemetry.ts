import { openAttemptReader } from '../../telemetry/attemptReader.js';
import type { AttemptFilter, AttemptReader, StoredAttempt } from '../../telemetry/attemptReader.js';
import type { TelemetryTarget } from '../../telemetry/telemetryUrl.js';
import { startProgress } from '../progress.js';
import type { Terminal } from '../terminal.js';
import { NoAttempts } from './noAttempts.js';

export interface ReadTelemetryOptions {
  readonly target: TelemetryTarget;
  readonly filter: AttemptFilter;
  /** Calls of this scope alone; absent: all. */
  readonly scope?: string | undefined;
  /** Each is given every call. */
  readonly takers: readonly CallTaker[];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

export interface CallTaker {
  add(call: readonly StoredAttempt[]): void;
}

/** Reads a database once, with a bar; gives its name. Rejects with the signal's reason when aborted, with `NoAttempts` for nothing. */
export async function readTelemetry(options: ReadTelemetryOptions): Promise<string> {
  const { target, filter, scope } = options;
  const reader = await openAttemptReader({ target, filter });
  try {
    if ((await readAll(reader, options)) === 0) throw new NoAttempts({ place: reader.place, filter, scope });
    return reader.place;
  } finally {
    await reader.close();
  }
}

async function readAll(reader: AttemptReader, { scope, takers, terminal, signal }: ReadTelemetryOptions): Promise<number> {
  const progress = startProgress({ terminal, label: 'reading attempts', total: await reader.count() });
  let [rows, matching] = [0, 0];
  try {
    for await (const call of reader.calls()) {
      signal.throwIfAborted();
      rows += call.length;
      progress.update(rows);
      if (!isOf(scope, call)) continue;
      matching += call.length;
      for (const taker of takers) taker.add(call);
    }
  } finally {
    progress.stop();
  }
  return matching;
}

function isOf(scope: string | undefined, [first]: readonly StoredAttempt[]): boolean {
  return scope === undefined || first?.scope.toUpperCase() === scope.toUpperCase();
}
