import type { ChatDelta } from '../../../lib/model/delta.js';
import type { ChatResponse } from '../../../lib/model/response.js';
import type { StreamItem } from '../../../lib/model/streamItem.js';
import { toJudged } from '../anyCall/judged.js';
import type { Attempt, Judged } from '../anyCall/judged.js';
import type { Played, PlayedCall } from '../anyCall/playWorld.js';

/** One thing that was passed on, and when. */
export interface Passed<T> {
  readonly atMs: number;
  readonly item: T;
}

/** The attempt whose words may be passed on, computed from the scripts of its round alone. */
export interface Speaker {
  readonly attempt: Attempt;
  readonly atMs: number;
  /** Whether nothing outside could come first. */
  readonly isSure: boolean;
}

export interface JudgedStream extends Judged {
  /** Without its end. */
  readonly items: readonly Passed<StreamItem>[];
  readonly deltas: readonly Passed<ChatDelta>[];
  readonly speaker: Speaker | undefined;
  /** The speaker, where anything was passed on. */
  readonly committed: Speaker | undefined;
}

export function toJudgedStream(call: PlayedCall, played: Played): JudgedStream {
  const judged = toJudged(call, played);
  const end = call.told.find(({ notification: { kind } }) => kind !== 'N');
  const items = call.told.flatMap(({ frame, notification: { kind, value } }) => (kind === 'N' ? [{ atMs: frame, item: value as StreamItem }] : []));
  const speaker = speakerOf(judged);
  return {
    ...judged,
    endMs: end?.frame,
    error: end?.notification.error,
    response: responseOf(items.at(-1)?.item),
    items,
    deltas: items.flatMap(({ atMs, item }) => (item.type === 'start' || item.type === 'end' ? [] : [{ atMs, item }])),
    speaker,
    committed: items.length > 0 ? speaker : undefined,
  };
}

function responseOf(last: StreamItem | undefined): ChatResponse | undefined {
  return last?.type === 'end' ? last.response : undefined;
}

/** H12: the first of the last round that brings an increment; the primary at the same instant. */
function speakerOf({ rounds, leftMs, deadlineMs }: Judged): Speaker | undefined {
  const speakers = (rounds.at(-1) ?? []).flatMap((attempt) => {
    const [firstMs] = attempt.solo.incrementsMs;
    const atMs = firstMs === undefined ? Infinity : attempt.row.startedMs + firstMs;
    return atMs < leftMs && atMs <= deadlineMs ? [{ attempt, atMs, isSure: atMs < deadlineMs }] : [];
  });
  return speakers.sort((a, b) => a.atMs - b.atMs || Number(a.attempt.row.role === 'backup') - Number(b.attempt.row.role === 'backup'))[0];
}
