/** How rows are brought to a sink. */
export interface Delivery {
  /** A batch goes when so many rows wait … */
  readonly batchRows: number;
  /** … or when the oldest has waited so long. 0: in the turn in which its row is made. */
  readonly batchMs: number;
  /** The most rows in one write. */
  readonly maxWriteRows: number;
  /** Writes under way at one time. */
  readonly concurrency: number;
  /** A write that has not returned by then has failed. */
  readonly writeLimitMs: number;
  /** The wait before the second try; doubled for each further one, up to `retryMaxMs`. */
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** Tries by timer. Bounded, so that a dead sink keeps no process alive and virtual time comes to its end. */
  readonly maxTries: number;
  /** Then the rows are lost, or held until the next row or `close` tries again. */
  readonly afterTries: 'lose' | 'hold';
  /** Rows in memory at most; what comes on top is lost. */
  readonly capRows: number;
  /** How long `close` goes on trying; what is left then is lost. */
  readonly closeLimitMs: number;
}

/** For a `Sink` passed as a port: rows in the turn they are made. */
export const atOnce: Delivery = {
  batchRows: 1,
  batchMs: 0,
  maxWriteRows: Infinity,
  concurrency: Infinity,
  writeLimitMs: 15_000,
  retryMs: 250,
  retryMaxMs: 5000,
  maxTries: 6,
  afterTries: 'lose',
  capRows: 10_000,
  closeLimitMs: 5000,
};

/** For databases: few, larger writes, one after the other; an outage is waited out. */
export const batched: Delivery = {
  ...atOnce,
  batchRows: 100,
  batchMs: 200,
  maxWriteRows: 1000,
  concurrency: 1,
  maxTries: 12,
  afterTries: 'hold',
};
