import { hostname } from 'node:os';
import type { SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../model/errors.js';
import type { AttemptRecord, Report } from '../model/events.js';
import { toRow, type AttemptRow } from './attemptRow.js';
import { atOnce, type Delivery } from './delivery.js';
import { settleWithin, type Failure } from './settleWithin.js';
import { isRowsRefused, type Sink } from './sink.js';
import { createTroubleTeller } from './troubleTeller.js';

export interface RecorderOptions {
  readonly sink: Sink;
  readonly report: Report;
  readonly scheduler: SchedulerLike;
  /** Default `atOnce`. */
  readonly delivery?: Delivery;
  readonly date?: () => Date;
  readonly host?: string;
}

export interface Recorder {
  /** Takes records of attempts that are decided. Neither throws nor waits. */
  record: (records: readonly AttemptRecord[]) => void;
  /** Writes what was accepted, then closes the sink; takes little more than `closeLimitMs` at most. Never rejects. */
  close: () => Promise<void>;
  readonly lost: number;
  readonly pending: number;
}

interface Batch {
  readonly rows: readonly AttemptRow[];
  tries: number;
  isWriting: boolean;
  nextTry?: Subscription | undefined;
  triedMs: number;
}

const sinkCloseLimitMs = 1000;

/**
 * Brings rows to a sink. Failed writes are tried again with growing waits; what the sink could not take is counted in
 * `lost`; trouble is told by `telemetry-trouble` events, a few for each trouble (E1).
 */
export function createRecorder({ sink, report, scheduler, delivery = atOnce, date = () => new Date(), host = hostname() }: RecorderOptions): Recorder {
  const trouble = createTroubleTeller({ report, now: () => scheduler.now() });
  const waiting: AttemptRow[] = [];
  const batches = new Set<Batch>();
  let pending = 0;
  let batchTimer: Subscription | undefined;
  let closed: Promise<void> | undefined;
  let isClosing = false;
  let onIdle: (() => void) | undefined;

  settleWithin({ ...bounds(delivery.writeLimitMs), run: () => sink.open?.() }, (failure) => {
    if (failure) trouble.failed(failure.error);
  });

  function bounds(limitMs: number): { limitMs: number; scheduler: SchedulerLike; onLimit: () => void } {
    return { limitMs, scheduler, onLimit: () => sink.abandon?.() };
  }

  function rowsOf(records: readonly AttemptRecord[]): readonly AttemptRow[] {
    const wall = { nowMs: scheduler.now(), date: date(), pid: process.pid, host };
    return records.flatMap((record) => {
      try {
        return [toRow(record, wall)];
      } catch (error: unknown) {
        trouble.lost(1, `a row could not be made: ${messageOf(error)}`);
        return [];
      }
    });
  }

  function accept(rows: readonly AttemptRow[]): void {
    const room = isClosing ? 0 : Math.max(0, delivery.capRows - pending);
    const accepted = rows.slice(0, room);
    waiting.push(...accepted);
    pending += accepted.length;
    const over = rows.length - accepted.length;
    if (over > 0) trouble.lost(over, isClosing ? 'the recorder is closed' : `${delivery.capRows} are held already`);
  }

  function pump(isDue: boolean): void {
    if (waiting.length === 0) return;
    if (batches.size >= delivery.concurrency) tryHeld();
    else if (isDue || waiting.length >= delivery.batchRows) startBatch();
    else batchTimer ??= scheduler.schedule(startBatch, delivery.batchMs);
  }

  function startBatch(): void {
    stopBatchTimer();
    const batch: Batch = { rows: waiting.splice(0, delivery.maxWriteRows), tries: 0, isWriting: false, triedMs: 0 };
    batches.add(batch);
    attempt(batch);
  }

  function stopBatchTimer(): void {
    batchTimer?.unsubscribe();
    batchTimer = undefined;
  }

  function attempt(batch: Batch): void {
    batch.nextTry?.unsubscribe();
    batch.nextTry = undefined;
    batch.isWriting = true;
    batch.tries += 1;
    batch.triedMs = scheduler.now();
    settleWithin({ ...bounds(delivery.writeLimitMs), run: () => sink.write(batch.rows) }, (failure) => {
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
    remove(batch);
    if (failure && isRowsRefused(failure.error)) trouble.lost(failure.error.count, failure.error.message);
    if (![...batches].some(({ tries, isWriting }) => tries > 1 || !isWriting)) trouble.recovered();
    next();
  }

  function retryLater(batch: Batch): void {
    const isLast = batch.tries >= delivery.maxTries;
    if (isLast && delivery.afterTries === 'lose') {
      lose(batch, `given up after ${batch.tries} tries`);
      next();
    } else if (!isLast || isClosing) {
      const waitMs = isClosing ? delivery.retryMs : Math.min(delivery.retryMaxMs, delivery.retryMs * 2 ** (batch.tries - 1));
      batch.nextTry = scheduler.schedule(() => attempt(batch), waitMs);
    }
  }

  /** A held batch has no timer any more: new rows give it its tries. */
  function tryHeld(): void {
    for (const batch of batches) {
      if (!batch.isWriting && !batch.nextTry && scheduler.now() - batch.triedMs >= delivery.retryMaxMs) attempt(batch);
    }
  }

  function next(): void {
    pump(true);
    if (pending === 0) onIdle?.();
  }

  function remove(batch: Batch): void {
    batch.nextTry?.unsubscribe();
    batches.delete(batch);
    pending -= batch.rows.length;
  }

  function lose(batch: Batch, why: string): void {
    remove(batch);
    trouble.lost(batch.rows.length, why);
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const limit = scheduler.schedule(() => resolve(), delivery.closeLimitMs);
      onIdle = () => {
        limit.unsubscribe();
        resolve();
      };
      stopBatchTimer();
      for (const batch of batches) if (!batch.isWriting) attempt(batch);
      next();
    });
  }

  async function closeAll(): Promise<void> {
    isClosing = true;
    await drained();
    onIdle = undefined;
    const why = `not written within ${delivery.closeLimitMs / 1000} s`;
    for (const batch of batches) lose(batch, why);
    pending = 0;
    if (waiting.length > 0) trouble.lost(waiting.splice(0).length, why);
    await new Promise<void>((resolve) => settleWithin({ ...bounds(sinkCloseLimitMs), run: () => sink.close?.() }, () => resolve()));
    trouble.closed();
  }

  return {
    record(records) {
      accept(rowsOf(records));
      pump(false);
    },
    close: () => (closed ??= closeAll()),
    get lost() {
      return trouble.lostRows;
    },
    get pending() {
      return pending;
    },
  };
}
