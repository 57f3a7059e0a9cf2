import type { RawRow } from './readAttempt.js';
import type { AttemptFilter } from './readFilter.js';

/** A table that is open for reading; each database has its own. */
export interface RowReader {
  /** The database without user and password. */
  readonly place: string;
  count(): Promise<number>;
  /** Rows in the order of their calls, page by page; a page is fetched when it is asked for. */
  pages(): AsyncGenerator<readonly RawRow[], void, undefined>;
  /** Does not wait for the statement under way. */
  cancel(): void;
  /** Called when no pages are read any more. */
  close(): Promise<void>;
}

export interface RowReaderOptions {
  readonly filter: AttemptFilter;
}

export const pageRows = 1000;
