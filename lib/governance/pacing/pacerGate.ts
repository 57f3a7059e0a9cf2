import type { Report } from '../../model/events.js';
import { localGate, once, refuse } from '../gate.js';
import type { Gate } from '../gate.js';
import { concurrencyOf, pace, unpaced } from './pace.js';
import type { Pace, PaceEvent } from './pace.js';

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
        return state.inFlight < concurrencyOf(state) ? undefined : refuse(pacedMessage(sourceId, state), { sourceId });
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

function pacedMessage(sourceId: string, state: Pace): string {
  const most = concurrencyOf(state);
  const why = state.slowStart ? 'since it came back' : 'after a 429';
  return `${sourceId} is paced to ${most} ${most === 1 ? 'request' : 'requests'} at once ${why}, and runs ${state.inFlight}`;
}
