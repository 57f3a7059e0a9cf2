import type { Report } from '../../model/events.js';
import { localGate, once } from '../gate.js';
import type { Gate } from '../gate.js';
import { concurrencyOf, pace, unpaced } from './pace.js';
import type { Pace, PaceEvent } from './pace.js';
import { pacedRefusal } from './pacedRefusal.js';

/** Holds each source to the concurrency that its 429s have left it (G5). */
export interface PacerGate extends Required<Gate> {
  /** The source is back after an outage: one request at once, and growth with every success. */
  restart(sourceId: string): void;
  /** Requests at once, of the sources that are paced. */
  limits(): Record<string, number>;
}

/** Keeps the pace in this process. Reports `pace-changed` whenever a source may run more or fewer requests at once. */
export function createPacerGate({ sources, report }: { readonly sources: readonly { readonly id: string }[]; readonly report: Report }): PacerGate {
  const paces = new Map<string, Pace>(sources.map(({ id }) => [id, unpaced]));
  const paceOf = (sourceId: string): Pace => paces.get(sourceId) ?? unpaced;

  function tell(sourceId: string, event: PaceEvent): Pace {
    const before = paceOf(sourceId);
    const after = pace(before, event);
    paces.set(sourceId, after);
    const concurrency = concurrencyOf(after);
    if (concurrency !== concurrencyOf(before)) report({ type: 'pace-changed', source: sourceId, concurrency });
    return after;
  }

  return {
    restart: (sourceId) => void tell(sourceId, { type: 'restarted' }),
    limits: () => Object.fromEntries([...paces].map(([id, state]) => [id, concurrencyOf(state)] as const).filter(([, most]) => most < Infinity)),
    ...localGate({
      refusal({ sourceId }) {
        const state = paceOf(sourceId);
        const concurrency = concurrencyOf(state);
        return state.inFlight < concurrency ? undefined : pacedRefusal(sourceId, { ...state, concurrency });
      },
      take({ sourceId }) {
        const { epoch } = tell(sourceId, { type: 'admitted' });
        return {
          progress: () => undefined,
          settle: once(({ type }) => void tell(sourceId, { type: 'ended', epoch, outcome: type })),
        };
      },
    }),
  };
}
