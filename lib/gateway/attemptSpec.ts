import type { Observable, SchedulerLike } from 'rxjs';
import type { AttemptRecord, HedgeTrigger, Role } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import type { StreamStart } from '../model/streamItem.js';
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
  /** The clock of its limits and figures, which stands while the reader of its answer can take no more. */
  readonly clock: SchedulerLike;
  readonly held$?: Observable<boolean> | undefined;
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

/** What leaves a round: its start, if it is passed on, then the completion. */
export type Passed<A> = StreamStart | Completed<A>;

/** From here on what the attempt says is passed on, by the call's shortcut. */
export interface Begun {
  readonly type: 'start';
}

/** What an attempt emits: its figures as marks, its start if it is passed on, its completion. */
export type Progress<A> = StallFigures | Begun | Completed<A>;

/** Told as marks of what comes, not with each increment; they grow meanwhile. */
export function isFigures<A>(progress: Progress<A>): progress is StallFigures {
  return !('type' in progress);
}

/** By the figures, which know of increments that were not told. */
export function lastIncrementMs<A>(progress: Progress<A>): number {
  return isFigures(progress) ? progress.lastMs : -Infinity;
}

export function isCompleted<A>(progress: Progress<A> | StreamStart): progress is Completed<A> {
  return 'type' in progress && progress.type === 'completed';
}

/** A refusal by content filter is often one source's alone, and being short it would win too often (H4). */
export function isWeak({ finishReason }: Completed<unknown>): boolean {
  return finishReason === 'content_filter';
}
