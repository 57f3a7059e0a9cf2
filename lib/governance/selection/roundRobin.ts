import type { NoteGrant } from './countedGate.js';
import { lowestFirst } from './rank.js';
import type { Strategy } from './rank.js';

/** Whoever was let in longest ago comes first. Who was away is merely first once, since only its last grant counts. */
export function createRoundRobin(): { readonly order: Strategy; readonly noteGrant: NoteGrant } {
  const lastTurn = new Map<string, number>();
  let turns = 0;
  const lastTurnOf = (id: string): number => lastTurn.get(id) ?? 0;

  return {
    order: lowestFirst(({ id }) => lastTurnOf(id)),
    noteGrant(sourceId) {
      const before = lastTurnOf(sourceId);
      const turn = (turns += 1);
      lastTurn.set(sourceId, turn);
      return () => {
        // With a later turn of the same source there is nothing to take back: that one counts.
        if (lastTurnOf(sourceId) === turn) lastTurn.set(sourceId, before);
      };
    },
  };
}
