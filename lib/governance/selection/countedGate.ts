import { map } from 'rxjs';
import { once } from '../gate.js';
import type { Gate, Permit } from '../gate.js';

/** Told of each grant; gives what takes it back. */
export type NoteGrant = (this: void, sourceId: string) => () => void;

/** The same gate, whose grants are noted, and taken back where nothing went out. */
export function countedGate(gate: Gate, noteGrant: NoteGrant): Gate {
  return {
    enter: (ticket) => gate.enter(ticket).pipe(map((permit) => countedPermit(permit, noteGrant(ticket.sourceId)))),
    ...(gate.refusal === undefined ? {} : { refusal: (ticket) => gate.refusal?.(ticket) }),
  };
}

function countedPermit(permit: Permit, takeBack: () => void): Permit {
  return {
    progress: () => permit.progress(),
    settle: once((outcome) => {
      // Before the permit is given back: that lets waiting callers rank the sources in this very turn.
      if (outcome.type === 'unsent') takeBack();
      permit.settle(outcome);
    }),
  };
}
