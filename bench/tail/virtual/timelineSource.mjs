import { concat, concatMap, defer, from, map, of, timer } from 'rxjs';
import { limits } from './limits.mjs';

const delta = { type: 'content', text: 'x' };
const finish = { type: 'finish', reason: 'stop' };

/**
 * A source that plays the timeline of the call that it is asked for: the request's message is the call's number. Each delta is
 * scheduled as it comes, as a real stream's would be. `dueMs` says when a delta comes that would come `gapMs` from now.
 */
export function timelineSource({ id, callOf, scheduler, dueMs = (nowMs, gapMs) => nowMs + gapMs, around = (delta$) => delta$ }) {
  const asked = new Map();
  const nextOf = (callId) => {
    asked.set(callId, (asked.get(callId) ?? 0) + 1);
    return callOf(callId).attempts(id, asked.get(callId));
  };
  const after = (gapMs, nth) =>
    defer(() => {
      const nowMs = scheduler.now();
      return timer(dueMs(nowMs, gapMs, nth) - nowMs, scheduler).pipe(map(() => delta));
    });
  const stream = ({ messages: [{ content }] }) =>
    defer(() => around(concat(from(nextOf(Number(content)).gaps).pipe(concatMap(after)), of(finish))));

  return { id, provider: id, model: 'scripted', limits, stream };
}

export const requestFor = (call) => ({ messages: [{ role: 'user', content: String(call.id) }] });
