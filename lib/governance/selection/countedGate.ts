import { map } from 'rxjs';
import { isLocal, localGate, settledBy } from '../gate.js';
import type { Gate, Permit, Ticket } from '../gate.js';

/** Told of each grant; gives what takes it back. */
export type NoteGrant = (this: void, sourceId: string) => () => void;

/** The same gate, whose grants are noted, and taken back where nothing went out. */
export function countedGate(gate: Gate, noteGrant: NoteGrant): Gate {
  const counted = (permit: Permit, { sourceId }: Ticket): Permit => countedPermit(permit, noteGrant(sourceId));
  if (isLocal(gate)) return localGate({ refusal: (ticket) => gate.refusal(ticket), take: (ticket) => counted(gate.take(ticket), ticket) });
  return {
    enter: (ticket) => gate.enter(ticket).pipe(map((permit) => counted(permit, ticket))),
    ...(gate.refusal === undefined ? {} : { refusal: (ticket) => gate.refusal?.(ticket) }),
  };
}

function countedPermit(permit: Permit, takeBack: () => void): Permit {
  return settledBy(permit, (outcome) => {
    // Before the permit is given back: that lets waiting callers rank the sources in this very turn.
    if (outcome.type === 'unsent') takeBack();
    permit.settle(outcome);
  });
}
