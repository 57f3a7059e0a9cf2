import { firstValueFrom } from 'rxjs';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Outcome, Permit, Ticket } from '../../../lib/governance/gate.js';
import type { Holder, World, WorldSpec } from '../holders.js';

export const failure: Outcome = { type: 'failure', totalTokens: null };
export const rateLimited: Outcome = { type: 'rate-limited', totalTokens: null };
export const cancelled: Outcome = { type: 'cancelled', totalTokens: null };
export const unsent: Outcome = { type: 'unsent' };
export const success = (totalTokens: number | null = null): Outcome => ({ type: 'success', totalTokens });

/** A world, and what a contract says of it in few words. */
export interface Told extends Pick<World, 'governance' | 'events'> {
  readonly advance: (ms: number) => void;
  /** A permit, or why not. */
  readonly enter: (ticket?: Partial<Ticket>) => Promise<Permit | AdmissionRefused>;
  /** Settles when all that was said before has been heard. */
  readonly heard: () => Promise<void>;
  /** A permit; a refusal fails the test. */
  readonly admit: (ticket?: Partial<Ticket>) => Promise<Permit>;
  /** `in`, or the words of the refusal. Whoever is in stays in. */
  readonly says: (ticket?: Partial<Ticket>) => Promise<string>;
  /** `in`, or `[notBeforeMs, retryAfterMs]`. */
  readonly times: (ticket?: Partial<Ticket>) => Promise<unknown>;
  /** As many as get in of so many that come one after the other. */
  readonly crowd: (most: number, ticket?: Partial<Ticket>) => Promise<Permit[]>;
  /** Settles them in this order, and waits until that was heard. */
  readonly end: (permits: Permit | readonly Permit[], outcome: Outcome) => Promise<void>;
  readonly ageMs: () => Promise<number>;
  /** Breaker changes that were not asked for yet, with the cool-down where there is one. */
  readonly turns: () => string[];
}

/** A test of one world, which is closed when it ends. */
export function inWorld(holder: Holder, spec: WorldSpec, run: (world: Told) => Promise<void>): () => Promise<void> {
  return async () => {
    const world = holder.open(spec);
    try {
      await run(told(world));
    } finally {
      await world.close();
    }
  };
}

function told(world: World): Told {
  const { events, governance } = world;
  const enter = (ticket?: Partial<Ticket>): Promise<Permit | AdmissionRefused> => world.enter(ticket);
  const heard = (): Promise<void> => world.heard();

  async function admit(ticket?: Partial<Ticket>): Promise<Permit> {
    const answer = await enter(ticket);
    if (answer instanceof AdmissionRefused) throw answer;
    return answer;
  }

  async function crowd(most: number, ticket?: Partial<Ticket>): Promise<Permit[]> {
    const permits: Permit[] = [];
    while (permits.length < most) {
      const answer = await enter(ticket);
      if (answer instanceof AdmissionRefused) break;
      permits.push(answer);
    }
    return permits;
  }

  return {
    governance,
    events,
    advance: (ms) => world.advance(ms),
    enter,
    heard,
    admit,
    crowd,
    async says(ticket) {
      const answer = await enter(ticket);
      return answer instanceof AdmissionRefused ? answer.message : 'in';
    },
    async times(ticket) {
      const answer = await enter(ticket);
      return answer instanceof AdmissionRefused ? [answer.notBeforeMs, answer.retryAfterMs] : 'in';
    },
    async end(permits, outcome) {
      for (const permit of [permits].flat()) permit.settle(outcome);
      await heard();
    },
    ageMs: () => firstValueFrom(governance.progress.ageMs()),
    turns: () => events.splice(0).flatMap((event) => (event.type === 'breaker-changed' ? [`${event.source} ${event.from} > ${event.to} ${event.coolDownMs ?? '-'}`] : [])),
  };
}
