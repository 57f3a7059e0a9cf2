import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { loadPeer, peers } from '../model/loadPeer.js';
import type { AttemptRow } from './attemptRow.js';
import { rowValues } from './schema.js';
import { RowsRefusedError, type Sink } from './sink.js';
import type { RowValues, SqliteStoreOptions } from './sqliteStore.js';
import type { WorkerAnswer, WorkerRequest } from './sqliteWorker.js';

export type SqliteSinkOptions = Pick<SqliteStoreOptions, 'file'> & Partial<SqliteStoreOptions>;

export interface SqliteSink extends Required<Sink> {
  open(): Promise<void>;
  write(rows: readonly AttemptRow[]): Promise<void>;
  close(): Promise<void>;
}

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A worker thread and the writes it has not answered yet. */
interface Running {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
  readonly exited: Promise<void>;
}

/**
 * Writes rows to the SQLite database `file` on a worker thread, so that another process's lock, waited for at most
 * `busyTimeoutMs` (2000), never stands in the event loop's way (E4). The thread keeps the process alive only while
 * something is being written. Throws `ConfigError` if `better-sqlite3` is not installed.
 */
export function createSqliteSink({ file, schema = 'auto', busyTimeoutMs = 2000, pragmas = [] }: SqliteSinkOptions): SqliteSink {
  const require = createRequire(import.meta.url);
  loadPeer(peers.sqlite);
  // By name, since tests load this file as TypeScript, and a worker can only run the built one.
  const entry = require.resolve('#sqlite-worker');
  const workerData: SqliteStoreOptions = { file, schema, busyTimeoutMs, pragmas };
  let running: Running | undefined;
  let lastId = 0;

  function start(): Running {
    const started = run(new Worker(entry, { workerData, execArgv: [] }), file);
    void started.exited.then(() => {
      if (running === started) running = undefined;
    });
    return started;
  }

  function write(rows: readonly RowValues[]): Promise<void> {
    const { worker, pending } = (running ??= start());
    const id = (lastId += 1);
    return new Promise((resolve, reject) => {
      worker.postMessage({ type: 'write', id, rows } satisfies WorkerRequest);
      pending.set(id, { resolve, reject });
      worker.ref();
    });
  }

  return {
    open: () => write([]),
    write: (rows) => write(rows.map(rowValues)),
    async close() {
      if (!running) return;
      running.worker.ref();
      running.worker.postMessage({ type: 'close' } satisfies WorkerRequest);
      await running.exited;
    },
    abandon() {
      // Not terminated, since the driver takes the whole process down if it then has to throw: a thread that hangs in the
      // file system ends when it comes back. The next write starts another.
      running?.worker.postMessage({ type: 'close' } satisfies WorkerRequest);
      running?.worker.unref();
      running = undefined;
    },
  };
}

function run(worker: Worker, file: string): Running {
  const pending = new Map<number, Pending>();
  let crash: unknown;
  worker.unref();
  worker.on('message', (answer: WorkerAnswer) => {
    const asked = pending.get(answer.id);
    pending.delete(answer.id);
    if (pending.size === 0) worker.unref();
    if (asked) settle(asked, answer, file);
  });
  worker.on('error', (error: unknown) => {
    crash = error;
  });
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      for (const { reject } of pending.values()) reject(new Error(`sqlite:${file}: its thread has ended`, { cause: crash }));
      pending.clear();
      resolve();
    });
  });
  return { worker, pending, exited };
}

function settle({ resolve, reject }: Pending, answer: WorkerAnswer, file: string): void {
  if ('failure' in answer) {
    const { code, message } = answer.failure;
    reject(Object.assign(new Error(`sqlite:${file}: ${message}${code && ` (${code})`}`), { code }));
  } else if (answer.refused.count > 0) {
    reject(new RowsRefusedError(`sqlite:${file}: ${answer.refused.why ?? 'refused'}`, answer.refused.count));
  } else {
    resolve();
  }
}
