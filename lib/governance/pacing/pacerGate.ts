import type { Report } from '../../model/events.js';
import { attemptOf, localGate, once } from '../gate.js';
import type { Gate, Ticket } from '../gate.js';
import { concurrencyOf, pace, unpaced } from './pace.js';
import type { Pace, PaceEvent } from './pace.js';
import { pacedRefusal } from './pacedRefusal.js';

/** Holds each source to the concurrency that its 429s have left it (G5). */
export interface PacerGate extends Required<Gate> {
  /** The source is back after an outage, as this attempt has shown: one request at once, and growth with every success. */
  restart(this: void, ticket: Ticket): void;
  /** Requests at once, of the sources that are paced. */
  limits(): Record<string, number>;
}

/** Keeps the pace in this process. Reports `pace-changed` whenever a source may run more or fewer requests at once. */
export function createPacerGate({ sources, report }: { readonly sources: readonly { readonly id: string }[]; readonly report: Report }): PacerGate {
  const paces = new Map<string, Pace>(sources.map(({ id }) => [id, unpaced]));
  const paceOf = (sourceId: string): Pace => paces.get(sourceId) ?? unpaced;

  function tell(ticket: Ticket, event: PaceEvent): Pace {
    const { sourceId } = ticket;
    const before = paceOf(sourceId);
    const after = pace(before, event);
    paces.set(sourceId, after);
    const concurrency = concurrencyOf(after);
    if (concurrency !== concurrencyOf(before)) report({ type: 'pace-changed', ...attemptOf(ticket), concurrency });
    return after;
  }

  return {
    restart: (ticket) => void tell(ticket, { type: 'restarted' }),
    limits: () => Object.fromEntries([...paces].map(([id, state]) => [id, concurrencyOf(state)] as const).filter(([, most]) => most < Infinity)),
    ...localGate({
      refusal({ sourceId }) {
        const state = paceOf(sourceId);
        const concurrency = concurrencyOf(state);
        return state.inFlight < concurrency ? undefined : pacedRefusal(sourceId, { ...state, concurrency });
      },
      take(ticket) {
        const { epoch } = tell(ticket, { type: 'admitted' });
        return {
          progress: () => undefined,
          settle: once(({ type }) => void tell(ticket, { type: 'ended', epoch, outcome: type })),
        };
      },
    }),
  };
}
