import type { RawRow, StoredAttempt } from './readAttempt.js';
import { storedAttempt } from './readAttempt.js';

/** The attempts of each call, one call after the other, of rows that are ordered by call. */
export async function* readCalls(pages: AsyncIterable<readonly RawRow[]>): AsyncGenerator<readonly StoredAttempt[], void, undefined> {
  let call: StoredAttempt[] = [];
  for await (const page of pages) {
    for (const row of page) {
      const attempt = storedAttempt(row);
      if (attempt === undefined) continue;
      if (call[0] !== undefined && call[0].call_id !== attempt.call_id) {
        yield call.sort(byOrder);
        call = [];
      }
      call.push(attempt);
    }
  }
  if (call.length > 0) yield call.sort(byOrder);
}

function byOrder(a: StoredAttempt, b: StoredAttempt): number {
  return (a.round ?? 0) - (b.round ?? 0) || a.startedAtMs - b.startedAtMs || rank(a) - rank(b) || (a.id < b.id ? -1 : 1);
}

/** A backup may start within the millisecond of its primary. */
function rank({ role }: StoredAttempt): number {
  return role === 'primary' ? 0 : 1;
}
