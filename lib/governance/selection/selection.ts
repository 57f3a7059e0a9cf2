import type { Gate } from '../gate.js';
import { countedGate } from './countedGate.js';
import { amongEqualPriority, byPriority, lowestFirst } from './rank.js';
import type { Candidate, Strategy } from './rank.js';
import { createRoundRobin } from './roundRobin.js';
import { createSteady } from './steady.js';
import type { EndedAttempt } from './steady.js';
import { createWeighted } from './weighted.js';

export type StrategyName = 'priority' | 'round_robin' | 'weighted' | 'least_busy' | 'steady';

/** Which source is asked first, and what that depends on. */
export interface Selection {
  /** A look at the present state; changes nothing, since every poll, retry and hedge asks it. */
  readonly rank: Strategy;
  /** The same gate, whose grants are noted; one that is settled as `unsent` was none. */
  counted(this: void, gate: Gate): Gate;
  /** Takes note of an attempt that has ended, also of one that was cancelled. */
  note(this: void, attempt: EndedAttempt): void;
}

export interface SelectionOptions {
  readonly strategy: StrategyName;
  /** All sources of the scope: a share is a share among these. */
  readonly sources: readonly Candidate[];
  /** Requests in flight per source. */
  readonly inFlight: () => Readonly<Record<string, number>>;
  readonly now: () => number;
}

/**
 * Makes the strategy of a scope. Every strategy works among sources of equal priority: a lower priority number goes first
 * whatever the strategy, so a source with a higher one is a reserve. Equal sources keep the order in which they were given.
 *
 * - `priority`: nothing else.
 * - `round_robin`: who was let in longest ago.
 * - `weighted`: who lags most behind its share by weight.
 * - `least_busy`: who has the fewest requests in flight.
 * - `steady`: who was silent for the smallest share of its attempt time in the last ten minutes.
 *
 * What is counted is counted in this process.
 */
export function createSelection({ strategy, sources, inFlight, now }: SelectionOptions): Selection {
  switch (strategy) {
    case 'priority':
      return { ...stateless, rank: byPriority };
    case 'round_robin':
      return counting(createRoundRobin());
    case 'weighted':
      return counting(createWeighted(sources));
    case 'least_busy':
      return { ...stateless, rank: amongEqualPriority(leastBusyFirst(inFlight)) };
    case 'steady': {
      const { order, note } = createSteady({ now });
      return { ...stateless, rank: amongEqualPriority(order), note };
    }
    default:
      return strategy satisfies never;
  }
}

const stateless: Omit<Selection, 'rank'> = { counted: (gate) => gate, note: () => undefined };

function counting({ order, noteGrant }: ReturnType<typeof createRoundRobin>): Selection {
  return { ...stateless, rank: amongEqualPriority(order), counted: (gate) => countedGate(gate, noteGrant) };
}

function leastBusyFirst(inFlight: SelectionOptions['inFlight']): Strategy {
  return (candidates) => {
    const busy = inFlight();
    return lowestFirst(({ id }) => busy[id] ?? 0)(candidates);
  };
}
