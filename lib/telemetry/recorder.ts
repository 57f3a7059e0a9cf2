import { hostname } from 'node:os';
import type { SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../model/errors.js';
import type { AttemptRecord, Report } from '../model/events.js';
import { toRow, type AttemptRow, type Wall } from './attemptRow.js';
import { createBatchWriter } from './batchWriter.js';
import { atOnce, type Delivery } from './delivery.js';
import { settleWithin } from './settleWithin.js';
import type { Sink } from './sink.js';
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
  /** Rows that were not and will not be stored. */
  readonly lost: number;
  /** Rows that are waiting or being written. */
  readonly pending: number;
}

const sinkCloseLimitMs = 1000;

/**
 * Brings rows to a sink. Failed writes are tried again with growing waits; what the sink could not take is counted in
 * `lost`; trouble is told by `telemetry-trouble` events, a few for each trouble (E1).
 */
export function createRecorder({ sink, report, scheduler, delivery = atOnce, date = () => new Date(), host = hostname() }: RecorderOptions): Recorder {
  const trouble = createTroubleTeller({ report, now: () => scheduler.now() });
  const writer = createBatchWriter({ sink, scheduler, delivery, trouble, onEnd });
  const waiting: AttemptRow[] = [];
  let pending = 0;
  let batchTimer: Subscription | undefined;
  let closed: Promise<void> | undefined;
  let isClosing = false;
  let onIdle: (() => void) | undefined;

  settleWithin({ run: () => sink.open?.(), limitMs: delivery.writeLimitMs, scheduler, onLimit: () => sink.abandon?.() }, (failure) => {
    if (failure) trouble.failed(failure.error);
  });

  function accept(record: AttemptRecord, wall: Wall): void {
    if (isClosing) trouble.lost(1, 'the recorder is closed');
    else if (pending >= delivery.capRows) trouble.lost(1, `${delivery.capRows} are held already`);
    else keep(record, wall);
  }

  function keep(record: AttemptRecord, wall: Wall): void {
    try {
      waiting.push(toRow(record, wall));
      pending += 1;
    } catch (error: unknown) {
      trouble.lost(1, `a row could not be made: ${messageOf(error)}`);
    }
  }

  function pump(isDue: boolean): void {
    if (waiting.length === 0) return;
    if (writer.active >= delivery.concurrency) writer.tryHeld();
    else if (isDue || waiting.length >= delivery.batchRows) writeBatch();
    else batchTimer ??= scheduler.schedule(writeBatch, delivery.batchMs);
  }

  function writeBatch(): void {
    batchTimer?.unsubscribe();
    batchTimer = undefined;
    writer.write(waiting.splice(0, delivery.maxWriteRows));
  }

  function onEnd(rows: number): void {
    pending -= rows;
    pump(true);
    if (pending === 0) onIdle?.();
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const limit = scheduler.schedule(() => resolve(), delivery.closeLimitMs);
      onIdle = () => {
        limit.unsubscribe();
        resolve();
      };
      writer.hurry();
      pump(true);
      if (pending === 0) onIdle();
    });
  }

  function dropRest(): void {
    const why = `not written within ${delivery.closeLimitMs / 1000} s`;
    const unsent = waiting.splice(0).length;
    pending -= unsent;
    if (unsent > 0) trouble.lost(unsent, why);
    writer.giveUp(why);
  }

  async function closeAll(): Promise<void> {
    isClosing = true;
    await drained();
    batchTimer?.unsubscribe();
    dropRest();
    await new Promise<void>((resolve) => {
      settleWithin({ run: () => sink.close?.(), limitMs: sinkCloseLimitMs, scheduler, onLimit: () => sink.abandon?.() }, () => resolve());
    });
    trouble.closed();
  }

  return {
    record(records) {
      const wall = { nowMs: scheduler.now(), date: date(), pid: process.pid, host };
      for (const record of records) accept(record, wall);
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
