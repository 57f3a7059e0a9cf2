import { of } from 'rxjs';
import type { Gate, Outcome, Permit, Ticket } from '../../../lib/governance/gate.js';
import type { Candidate } from '../../../lib/governance/selection/rank.js';
import { createSelection } from '../../../lib/governance/selection/selection.js';
import type { Selection, StrategyName } from '../../../lib/governance/selection/selection.js';

export const success: Outcome = { type: 'success', totalTokens: null };
export const unsent: Outcome = { type: 'unsent' };

export const ticketFor = (sourceId: string): Ticket => ({ sourceId, callId: 'call', attemptId: 'call-1', role: 'primary', round: 1, estimatedTokens: 100 });

export interface Turn {
  readonly sourceId: string;
  readonly permit: Permit;
}

/** A selection before a gate that lets in whoever is runnable and counts what is in flight. */
export interface Turnstile {
  readonly selection: Selection;
  clockMs: number;
  /** The order in which a call would ask now. */
  order(): string[];
  /** Lets in the first in order that is runnable; default: all are. */
  letIn(runnable?: readonly string[]): Turn;
  /** As many turns, each over before the next begins. */
  turns(count: number, runnable?: readonly string[]): string[];
}

export function turnstile(strategy: StrategyName, sources: readonly Candidate[]): Turnstile {
  const inFlight: Record<string, number> = {};
  const change = (id: string, by: number): void => { inFlight[id] = (inFlight[id] ?? 0) + by; };
  const open: Gate = {
    enter: ({ sourceId }) => {
      change(sourceId, 1);
      return of({ progress: () => undefined, settle: () => change(sourceId, -1) });
    },
  };
  const selection = createSelection({ strategy, sources, inFlight: () => inFlight, now: () => stile.clockMs });
  const gate = selection.counted(open);

  const stile: Turnstile = {
    selection,
    clockMs: 0,
    order: () => selection.rank(sources).map(({ id }) => id),
    letIn(runnable) {
      const sourceId = stile.order().find((id) => runnable?.includes(id) ?? true)!;
      let permit: Permit | undefined;
      gate.enter(ticketFor(sourceId)).subscribe((granted) => { permit = granted; });
      return { sourceId, permit: permit! };
    },
    turns: (count, runnable) =>
      Array.from({ length: count }, () => {
        const { sourceId, permit } = stile.letIn(runnable);
        permit.settle(success);
        return sourceId;
      }),
  };
  return stile;
}

export const named = (...ids: readonly string[]): Candidate[] => ids.map((id) => ({ id }));
export const countOf = (turns: readonly string[], id: string): number => turns.filter((turn) => turn === id).length;
