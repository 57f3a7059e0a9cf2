import type { AttemptRecord, HedgeTrigger, Role } from '../model/events.js';
import type { Upstream } from '../model/source.js';
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

/** What an attempt emits: its figures with each increment, then its completion. */
export type Progress<A> = StallFigures | Completed<A>;

export function isCompleted<A>(progress: Progress<A>): progress is Completed<A> {
  return 'type' in progress;
}

/** A refusal by content filter is often one source's alone, and being short it would win too often (H4). */
export function isWeak({ finishReason }: Completed<unknown>): boolean {
  return finishReason === 'content_filter';
}
