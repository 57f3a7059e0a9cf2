import type { AttemptRow } from './attemptRow.js';

/**
 * Where rows go. A failing write (thrown or rejected) is tried again with the same rows, so that a row may come twice:
 * its `id` tells. Nothing a sink does delays or fails a call, but for the time its `write` takes before it returns.
 */
export interface Sink {
  /** Stores the rows of one batch, oldest first. */
  write(rows: readonly AttemptRow[]): void | Promise<void>;
  /** Called once, after the last write. */
  close?(): void | Promise<void>;
  /** Called once, before the first write; its failure is told on `events$` and writes are tried nevertheless. */
  open?(): void | Promise<void>;
  /** A write or the close did not return within its limit and is no longer waited for: let go of what it holds. */
  abandon?(): void;
}

/** Thrown by `write`: every row is stored but `count` of them, which can never be; the batch is not to be repeated. */
export class RowsRefusedError extends Error {
  override readonly name = 'RowsRefusedError';
  readonly code = 'rows_refused';
  readonly count: number;

  constructor(message: string, count: number) {
    super(message);
    this.count = count;
  }
}

export function isRowsRefused(thrown: unknown): thrown is RowsRefusedError {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === 'rows_refused' && 'count' in thrown;
}
