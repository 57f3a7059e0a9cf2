import type { PartialOutput } from './errors.js';
import type { Usage } from './usage.js';

/** What a piece of an answer meant: one more increment, its end, or nothing that a timer may look at (O1, O2). */
export type Sign = 'increment' | 'finish' | 'none';

/** What has come of one attempt's answer so far. */
export interface Reply<A> {
  /** The answer; called once it is whole. */
  answer(): A;
  partial(): PartialOutput;
  readonly increments: number;
  readonly finished: boolean;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  readonly providerRequestId: string | null;
  readonly model: string | null;
  /** The source answered in one piece. */
  readonly whole: boolean;
}
