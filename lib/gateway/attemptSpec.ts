import type { AttemptRecord, HedgeTrigger, Role } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import type { StreamPiece } from '../model/streamItem.js';
import type { Admitted } from '../governance/admit.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import type { AttemptFigures } from './figures.js';
import type { Exchange } from './task.js';

/** What an attempt is to be. */
export interface AttemptSpec<A> {
  readonly id: string;
  readonly admitted: Admitted<Upstream>;
  readonly role: Role;
  readonly round: number;
  readonly trigger: HedgeTrigger | null;
  readonly exchange: Exchange<A>;
  readonly onBooked: (record: AttemptRecord) => void;
}

/** An attempt that came to a valid end. */
export interface Completed<A> {
  readonly type: 'completed';
  readonly attemptId: string;
  readonly role: Role;
  readonly source: Upstream;
  readonly answer: A;
  readonly finishReason: string | null;
  readonly endMs: number;
  readonly figures: AttemptFigures;
  readonly increments: number | null;
}

/** What leaves a round: what is passed on as it comes, if anything is, then the completion. */
export type Passed<A> = StreamPiece | Completed<A>;

/** What an attempt emits: its figures with each increment, and what leaves the round. */
export type Progress<A> = StallFigures | Passed<A>;

export function isPassed<A>(progress: Progress<A>): progress is Passed<A> {
  return 'type' in progress;
}

export function isCompleted<A>(progress: Progress<A>): progress is Completed<A> {
  return isPassed(progress) && progress.type === 'completed';
}

/** A refusal by content filter is often one source's alone, and being short it would win too often (H4). */
export function isWeak({ finishReason }: Completed<unknown>): boolean {
  return finishReason === 'content_filter';
}
