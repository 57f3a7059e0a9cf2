import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, messageOf } from '../model/errors.js';
import { createSqliteStore, type Refused, type RowValues, type SqliteStoreOptions } from './sqliteStore.js';

// The entry of the worker thread: the one file here that acts when it is loaded.

export type WorkerRequest = { type: 'write'; id: number; rows: readonly RowValues[] } | { type: 'close' };
export type WorkerAnswer = { id: number } & ({ refused: Refused } | { failure: { code: string; message: string } });

const port = parentPort;
const store = createSqliteStore(workerData as SqliteStoreOptions);

port?.on('message', (request: WorkerRequest) => {
  if (request.type === 'close') {
    port.close();
    store.close();
    return;
  }
  port.postMessage(answer(request));
});

function answer({ id, rows }: WorkerRequest & { type: 'write' }): WorkerAnswer {
  try {
    return { id, refused: store.insert(rows) };
  } catch (error: unknown) {
    return { id, failure: { code: codeOf(error) ?? '', message: messageOf(error) } };
  }
}
