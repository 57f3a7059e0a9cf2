import { localGate, once, refuse } from '../gate.js';
import type { Gate, Ticket } from '../gate.js';

/** Counted in billionths of a backup, so that ten tenths are one. */
const one = 1e9;
const atFirst = one;
const most = 3 * one;

/**
 * Holds backups to a share of the calls (H10): each call adds `ratio`, each backup takes 1, and at most 3 are kept. By count
 * and not by time, so that in an outage, when every call wants a backup, the load grows by no more than `ratio`.
 */
export function createHedgeCap({ ratio }: { readonly ratio: number }): Required<Gate> {
  const perCall = Math.round(ratio * one);
  let credit = atFirst;

  /** What a ticket changes when it is granted; of what goes over the most, nothing is kept. */
  const changeBy = ({ role, round }: Ticket): number => (role === 'backup' ? -one : round === 1 ? Math.min(perCall, most - credit) : 0);

  return localGate({
    refusal({ sourceId, role }) {
      if (role === 'primary' || credit >= one) return undefined;
      return refuse(`${sourceId} gets no backup: they are held to ${ratio} per call, and ${credit / one} of one is left`, { sourceId, gate: 'hedge-cap' });
    },
    take(ticket) {
      const change = changeBy(ticket);
      credit += change;
      return {
        progress: () => undefined,
        settle: once(({ type }) => {
          if (type === 'unsent') credit = Math.min(most, credit - change);
        }),
      };
    },
  });
}
