import type { Ticket } from '../gate.js';
import type { Noes } from './sightings.js';

/** Since when this process has gone without a place, per source; the turns between processes go by it. */
export interface Hunger {
  /** What is told of it with each question. */
  of(ticket: Ticket): { readonly waits: boolean; readonly withoutMs: number };
  /** It got a place, or was refused one. */
  note(ticket: Ticket, noes: Noes | undefined): void;
}

export interface HungerOptions {
  readonly now: () => number;
  /** Whoever has not asked for so long is no longer the one who waited. */
  readonly forgottenMs: number;
}

export function createHunger({ now, forgottenMs }: HungerOptions): Hunger {
  const gone = new Map<string, { readonly sinceMs: number; readonly askedMs: number }>();

  function sinceMs(sourceId: string): number {
    const known = gone.get(sourceId);
    return known !== undefined && now() - known.askedMs <= forgottenMs ? known.sinceMs : now();
  }

  return {
    of: ({ sourceId, waits = false }) => ({ waits, withoutMs: Math.trunc(now() - sinceMs(sourceId)) }),
    note({ sourceId, waits = false }, noes) {
      if (noes === undefined) gone.delete(sourceId);
      else if (waits && (noes.inUse ?? noes.paced ?? noes.turn) !== undefined) gone.set(sourceId, { sinceMs: sinceMs(sourceId), askedMs: now() });
    },
  };
}
