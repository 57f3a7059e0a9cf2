import { describe, expect, test } from '@jest/globals';
import { VirtualTimeScheduler } from 'rxjs';
import type { GatewayEventBody } from '../../lib/model/events.js';
import type { AttemptRow } from '../../lib/telemetry/attemptRow.js';
import { atOnce, batched, type Delivery } from '../../lib/telemetry/delivery.js';
import { createRecorder, type Recorder } from '../../lib/telemetry/recorder.js';
import { RowsRefusedError, type Sink } from '../../lib/telemetry/sink.js';
import { attemptRecord } from './attemptRecord.js';

interface Bench {
  recorder: Recorder;
  scheduler: VirtualTimeScheduler;
  troubles: { message: string; lost: number }[];
  /** Ids of each call of `write`, with its virtual time. */
  writes: { ids: string[]; atMs: number }[];
  record: (...ids: string[]) => void;
  runUntil: (ms: number) => void;
  /** Lets promises settle. */
  turn: () => Promise<void>;
}

function bench(write: (rows: readonly AttemptRow[], call: number) => void | Promise<void>, { delivery = atOnce, ...rest }: { delivery?: Delivery } & Partial<Sink> = {}): Bench {
  const scheduler = new VirtualTimeScheduler();
  const troubles: Bench['troubles'] = [];
  const writes: Bench['writes'] = [];
  const report = (event: GatewayEventBody): void => {
    if (event.type === 'telemetry-trouble') troubles.push({ message: event.message, lost: event.lost });
  };
  const sink: Sink = {
    ...rest,
    write(rows) {
      writes.push({ ids: rows.map(({ id }) => id), atMs: scheduler.now() });
      return write(rows, writes.length);
    },
  };
  const recorder = createRecorder({ sink, report, scheduler, delivery });
  return {
    recorder,
    scheduler,
    troubles,
    writes,
    record: (...ids) => recorder.record(ids.map((id) => attemptRecord({ id }))),
    runUntil(ms) {
      scheduler.maxFrames = ms;
      scheduler.flush();
      scheduler.frame = ms;
    },
    turn: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

const never = new Promise<void>(() => undefined);
const broken = (): never => {
  throw new Error('no room');
};

describe('a sink passed as a port', () => {
  test('gets its rows within record(), and no timer stays behind (E1, T2)', () => {
    const { record, writes, scheduler, recorder } = bench(() => undefined);
    record('a', 'b');
    expect(writes).toEqual([{ ids: ['a', 'b'], atMs: 0 }]);
    expect(scheduler.actions).toHaveLength(0);
    expect(recorder).toMatchObject({ pending: 0, lost: 0 });
  });

  test('gets a row at once though an earlier write has not returned yet', () => {
    const { record, writes, recorder } = bench(() => never);
    record('a');
    record('b');
    expect(writes.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
    expect(recorder.pending).toBe(2);
  });

  test('that throws is tried again with growing waits, then the row is counted, and virtual time ends (E1)', () => {
    const { record, writes, scheduler, troubles, recorder } = bench(broken);
    expect(() => record('a')).not.toThrow();
    scheduler.flush();
    expect(writes.map(({ atMs }) => atMs)).toEqual([0, 250, 750, 1750, 3750, 7750]);
    expect(recorder).toMatchObject({ pending: 0, lost: 1 });
    expect(troubles).toEqual([
      { message: 'telemetry cannot be written; rows are held and tried again, calls go on: no room', lost: 0 },
      { message: 'telemetry rows are lost: given up after 6 tries; lost so far: 1', lost: 1 },
    ]);
  });

  test('that rejects is tried again; the recovery is told', async () => {
    const { record, runUntil, turn, troubles, recorder, scheduler } = bench((_rows, call) => (call < 3 ? Promise.reject(new Error('away')) : Promise.resolve()));
    record('a');
    await turn();
    runUntil(250);
    await turn();
    runUntil(750);
    await turn();
    expect(recorder).toMatchObject({ pending: 0, lost: 0 });
    expect(scheduler.actions.filter((action) => !action.closed)).toHaveLength(0);
    expect(troubles.map(({ message }) => message)).toEqual([expect.stringContaining('away'), 'telemetry is written again; rows lost so far: 0']);
  });

  test('whose one row always fails still gets the others', () => {
    const { record, writes, scheduler, recorder, troubles } = bench((rows) => (rows[0]!.id === 'bad' ? broken() : undefined));
    record('bad');
    record('good');
    expect(writes.map(({ ids }) => ids)).toEqual([['bad'], ['good']]);
    expect(troubles).toHaveLength(1);
    scheduler.flush();
    expect(recorder).toMatchObject({ pending: 0, lost: 1 });
  });

  test('a hundred failing rows make a few events, not a hundred; keys in its errors are masked', () => {
    const { record, scheduler, troubles, recorder } = bench(() => {
      throw new Error('login with sk-abcdefghijklmnop1234 failed');
    });
    for (let at = 0; at < 100; at += 1) record(`r${at}`);
    scheduler.flush();
    expect(recorder.lost).toBe(100);
    expect(troubles).toHaveLength(2);
    expect(troubles[0]!.message).toContain('[masked]');
  });

  test('a sink that fails in turns is told of once in a while', () => {
    const { record, runUntil, troubles } = bench((_rows, call) => (call % 2 === 1 ? broken() : undefined));
    for (let at = 0; at < 20; at += 1) {
      record(`r${at}`);
      runUntil((at + 1) * 1000);
    }
    expect(troubles).toHaveLength(2);
  });

  test('rows that it refuses for good are counted and not repeated (TD-07)', () => {
    const { record, writes, scheduler, recorder, troubles } = bench(() => {
      throw new RowsRefusedError('too long', 1);
    });
    record('a', 'b');
    scheduler.flush();
    expect(writes).toHaveLength(1);
    expect(recorder).toMatchObject({ pending: 0, lost: 1 });
    expect(troubles).toEqual([{ message: 'telemetry rows are lost: too long; lost so far: 1', lost: 1 }]);
  });

  test('a record that makes no row is counted and leaves the others alone', () => {
    const { recorder, writes } = bench(() => undefined);
    recorder.record([attemptRecord({ id: undefined as unknown as string }), attemptRecord({ id: 'b' })]);
    expect(writes.map(({ ids }) => ids)).toEqual([['b']]);
    expect(recorder.lost).toBe(1);
  });
});

describe('a write that never returns (TD-12)', () => {
  test('is given up by its limit, the sink is told, and later rows flow', async () => {
    let abandoned = 0;
    const { record, writes, runUntil, turn, recorder } = bench((_rows, call) => (call === 1 ? never : Promise.resolve()), {
      delivery: batched,
      abandon: () => void (abandoned += 1),
    });
    record('a');
    runUntil(200);
    record('b');
    runUntil(15_199);
    expect(writes).toHaveLength(1);
    runUntil(15_200);
    expect(abandoned).toBe(1);
    runUntil(15_450);
    await turn();
    await turn();
    expect(writes.slice(1)).toEqual([{ ids: ['a'], atMs: 15_450 }, { ids: ['b'], atMs: 15_450 }]);
    expect(recorder).toMatchObject({ pending: 0, lost: 0 });
  });

  test('does not keep close() for ever, and what is left is counted and told', async () => {
    let answerLate = (): void => undefined;
    const hung = new Promise<void>((resolve) => (answerLate = resolve));
    const { record, recorder, runUntil, turn, troubles } = bench(() => hung, { delivery: { ...batched, batchRows: 1 }, close: () => never });
    record('a');
    record('b');
    let isClosed = false;
    const closing = recorder.close().then(() => (isClosed = true));
    await turn();
    runUntil(5000);
    await turn();
    expect(isClosed).toBe(false);
    runUntil(6000);
    await closing;
    answerLate();
    await turn();
    expect(recorder).toMatchObject({ pending: 0, lost: 2 });
    expect(troubles.map(({ message }) => message)).toEqual([expect.stringContaining('not written within 5 s'), 'telemetry is closed; rows lost: 2']);
  });
});

describe('batches', () => {
  test('go when enough rows wait or the first has waited long enough, on one timer (E4, T2)', () => {
    const { record, writes, runUntil, scheduler } = bench(() => undefined, { delivery: { ...batched, batchRows: 3 } });
    record('a');
    record('b');
    expect(scheduler.actions).toHaveLength(1);
    runUntil(199);
    expect(writes).toEqual([]);
    runUntil(200);
    record('c', 'd');
    record('e');
    expect(writes).toEqual([{ ids: ['a', 'b'], atMs: 200 }, { ids: ['c', 'd', 'e'], atMs: 200 }]);
    scheduler.maxFrames = Infinity;
    scheduler.flush();
    expect(writes).toHaveLength(2);
    expect(scheduler.actions).toHaveLength(0);
  });

  test('an outage is waited out: rows are held, in order, and written once it is over (TD-02)', () => {
    let isFull = true;
    const { record, writes, runUntil, troubles, recorder } = bench(() => (isFull ? broken() : undefined), { delivery: batched });
    for (let at = 0; at < 20; at += 1) {
      record(`r${at}`);
      runUntil((at + 1) * 500);
    }
    isFull = false;
    runUntil(16_000);
    expect(writes.filter(({ atMs }) => atMs > 10_000).flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 20 }, (_, at) => `r${at}`));
    expect(recorder).toMatchObject({ pending: 0, lost: 0 });
    expect(troubles).toHaveLength(2);
  });

  test('after its tries a dead sink runs on no timer: a new row tries again', () => {
    let isDead = true;
    const { record, writes, scheduler, recorder } = bench(() => (isDead ? broken() : undefined), { delivery: batched });
    record('a');
    scheduler.flush();
    expect(writes).toHaveLength(12);
    expect(recorder).toMatchObject({ pending: 1, lost: 0 });
    scheduler.frame += 5000;
    isDead = false;
    record('b');
    expect(writes.slice(12).map(({ ids }) => ids)).toEqual([['a'], ['b']]);
    expect(recorder.pending).toBe(0);
  });

  test('no more than the cap is held; the rest is counted', () => {
    const { record, recorder, scheduler, troubles } = bench(broken, { delivery: { ...batched, capRows: 5 } });
    for (let at = 0; at < 9; at += 1) record(`r${at}`);
    expect(recorder).toMatchObject({ pending: 5, lost: 4 });
    scheduler.flush();
    expect(recorder).toMatchObject({ pending: 5, lost: 4 });
    expect(troubles.map(({ message }) => message)).toEqual([expect.stringContaining('5 are held already'), expect.stringContaining('no room')]);
  });
});

describe('close', () => {
  test('writes what waits, closes the sink, is one promise for all who ask, and takes no more rows (E5)', async () => {
    const closed: number[] = [];
    const { record, recorder, writes, scheduler } = bench(() => undefined, { delivery: batched, close: () => void closed.push(writes.length) });
    record('a');
    expect(recorder.close()).toBe(recorder.close());
    await recorder.close();
    expect(writes.map(({ ids }) => ids)).toEqual([['a']]);
    expect(closed).toEqual([1]);
    expect(scheduler.actions.filter(({ closed: isDone }) => !isDone)).toHaveLength(0);
    record('late');
    expect(recorder).toMatchObject({ pending: 0, lost: 1 });
  });

  test('tries at once what waits for its next try, and again while its time lasts', async () => {
    const { record, recorder, runUntil, writes } = bench((_rows, call) => (call < 6 ? broken() : undefined), { delivery: { ...batched, maxTries: 4 } });
    record('a');
    runUntil(2000);
    const closing = recorder.close();
    runUntil(3000);
    await closing;
    expect(writes.map(({ atMs }) => atMs)).toEqual([200, 450, 950, 1950, 2000, 2250]);
    expect(recorder).toMatchObject({ pending: 0, lost: 0 });
  });

  test('does not wait out a backoff', async () => {
    const { record, recorder, runUntil, writes } = bench((_rows, call) => (call < 5 ? broken() : undefined), { delivery: batched });
    record('a');
    runUntil(2500);
    await recorder.close();
    expect(writes.map(({ atMs }) => atMs)).toEqual([200, 450, 950, 1950, 2500]);
  });

  test('does not reject when the sink cannot close', async () => {
    const { recorder } = bench(() => undefined, { close: broken });
    await expect(recorder.close()).resolves.toBeUndefined();
  });

  test('tells how many rows were lost since it was last told', async () => {
    const { record, recorder, scheduler, troubles } = bench(broken, { delivery: { ...atOnce, maxTries: 1 } });
    record('a');
    record('b');
    await recorder.close();
    scheduler.flush();
    expect(troubles.at(-1)).toEqual({ message: 'telemetry is closed; rows lost: 2', lost: 2 });
  });
});

test('a sink that cannot open is told of once, at the start (TD-02)', () => {
  const { record, scheduler, troubles } = bench(broken, { delivery: batched, open: broken });
  expect(troubles).toHaveLength(1);
  record('a');
  scheduler.flush();
  expect(troubles).toHaveLength(1);
});
