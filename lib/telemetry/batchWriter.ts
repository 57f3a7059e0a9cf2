import type { SchedulerLike, Subscription } from 'rxjs';
import type { AttemptRow } from './attemptRow.js';
import type { Delivery } from './delivery.js';
import { settleWithin, type Failure } from './settleWithin.js';
import { isRowsRefused, type Sink } from './sink.js';
import type { TroubleTeller } from './troubleTeller.js';

export interface BatchWriterOptions {
  readonly sink: Sink;
  readonly scheduler: SchedulerLike;
  readonly delivery: Delivery;
  readonly trouble: TroubleTeller;
  /** A batch has come to its end, stored or lost. */
  readonly onEnd: (rows: number) => void;
}

export interface BatchWriter {
  /** Batches that have not come to their end. */
  readonly active: number;
  write(rows: readonly AttemptRow[]): void;
  /** Gives held batches, which have no timer any more, another try; at most once in `retryMaxMs`. */
  tryHeld(): void;
  /** Tries everything at once, and from now on with short waits and without end. */
  hurry(): void;
  giveUp(why: string): void;
}

interface Batch {
  readonly rows: readonly AttemptRow[];
  tries: number;
  triedMs: number;
  isWriting: boolean;
  nextTry?: Subscription | undefined;
}

/** Brings batches to the sink, each with its own tries; the batch is the same at every try, so that a repetition is harmless. */
export function createBatchWriter({ sink, scheduler, delivery, trouble, onEnd }: BatchWriterOptions): BatchWriter {
  const { writeLimitMs, retryMs, retryMaxMs, maxTries, afterTries } = delivery;
  const batches = new Set<Batch>();
  let isHurried = false;

  function attempt(batch: Batch): void {
    batch.nextTry?.unsubscribe();
    batch.nextTry = undefined;
    batch.tries += 1;
    batch.triedMs = scheduler.now();
    batch.isWriting = true;
    settleWithin({ run: () => sink.write(batch.rows), limitMs: writeLimitMs, scheduler, onLimit: () => sink.abandon?.() }, (failure) => {
      batch.isWriting = false;
      if (batches.has(batch)) settle(batch, failure);
    });
  }

  function settle(batch: Batch, failure: Failure | undefined): void {
    if (failure && !isRowsRefused(failure.error)) {
      trouble.failed(failure.error);
      retryLater(batch);
      return;
    }
    batches.delete(batch);
    if (failure && isRowsRefused(failure.error)) trouble.lost(failure.error.count, failure.error.message);
    if (![...batches].some(({ tries, isWriting }) => tries > 1 || !isWriting)) trouble.recovered();
    onEnd(batch.rows.length);
  }

  function retryLater(batch: Batch): void {
    const isLast = batch.tries >= maxTries;
    if (isLast && afterTries === 'lose') {
      lose(batch, `given up after ${batch.tries} tries`);
    } else if (!isLast || isHurried) {
      const waitMs = isHurried ? retryMs : Math.min(retryMaxMs, retryMs * 2 ** (batch.tries - 1));
      batch.nextTry = scheduler.schedule(() => attempt(batch), waitMs);
    }
  }

  function lose(batch: Batch, why: string): void {
    batch.nextTry?.unsubscribe();
    batches.delete(batch);
    trouble.lost(batch.rows.length, why);
    onEnd(batch.rows.length);
  }

  return {
    get active() {
      return batches.size;
    },
    write(rows) {
      const batch: Batch = { rows, tries: 0, triedMs: 0, isWriting: false };
      batches.add(batch);
      attempt(batch);
    },
    tryHeld() {
      for (const batch of batches) {
        if (!batch.isWriting && scheduler.now() - batch.triedMs >= retryMaxMs) attempt(batch);
      }
    },
    hurry() {
      isHurried = true;
      for (const batch of batches) if (!batch.isWriting) attempt(batch);
    },
    giveUp(why) {
      for (const batch of batches) lose(batch, why);
    },
  };
}
