import type { AttemptRecord, HedgeTrigger, Role } from '../model/events.js';
import type { Answer, AnswerFold } from '../model/fold.js';
import type { Source } from '../model/source.js';
import type { Admitted } from '../governance/admit.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import type { AttemptFigures } from './figures.js';

/** What an attempt is to be. */
export interface AttemptSpec {
  readonly id: string;
  readonly admitted: Admitted<Source>;
  readonly role: Role;
  readonly round: number;
  readonly trigger: HedgeTrigger | null;
  readonly fold: AnswerFold;
  readonly onBooked: (record: AttemptRecord) => void;
}

/** An attempt that came to a valid end. */
export interface Completed {
  readonly type: 'completed';
  readonly attemptId: string;
  readonly role: Role;
  readonly source: Source;
  readonly answer: Answer;
  readonly endMs: number;
  readonly figures: AttemptFigures;
  readonly increments: number | null;
}

/** What an attempt emits: its figures with each increment, then its completion. */
export type Progress = StallFigures | Completed;

/** A refusal by content filter is often one source's alone, and being short it would win too often (H4). */
export function isWeak({ answer }: Completed): boolean {
  return answer.finishReason === 'content_filter';
}
