import type { BreakerPhase, GatewayEventBody, OfAttempt, Report } from '../../model/events.js';
import type { Verdict } from '../breaker/breaker.js';
import { breakerRefusal } from '../breaker/breakerRefusal.js';
import { jointRefusal, refuse } from '../gate.js';
import type { AdmissionRefused, Ticket } from '../gate.js';
import { pacedRefusal } from '../pacing/pacedRefusal.js';
import type { Paced } from '../pacing/pacedRefusal.js';
import { parkedRefusal } from '../parking.js';
import { atOnceRefused, requestsRefused, tokensRefused, tokensToReserve } from '../quota/quotaRules.js';
import type { RequestsSpent, TokensSpent } from '../quota/quotaRules.js';

/** What each governor says against an attempt. */
export interface Noes {
  readonly parkedMs?: number;
  readonly breaker?: Verdict;
  readonly paced?: Paced;
  readonly inUse?: number;
  readonly requests?: RequestsSpent;
  readonly tokens?: TokensSpent;
  /** There is room, for which other processes have waited longer. */
  readonly turn?: { readonly free: number; readonly longer: number };
}

/** What an answer tells of the source beside the decision. */
export interface Sighting {
  readonly phase?: BreakerPhase;
  /** Requests at once that it is paced to. */
  readonly concurrency?: number;
  /** What the decision itself has changed. */
  readonly changes?: { readonly breaker?: { readonly from: BreakerPhase; readonly to: BreakerPhase; readonly coolDownMs?: number }; readonly concurrency?: number };
}

/** What this process has last seen of the state that it shares. */
export interface Sightings {
  /** Notes what an answer said that was for this attempt. */
  note(attempt: OfAttempt, sighting: Sighting): void;
  /** The shared breaker cannot be read. */
  lostSightOfBreaker(sourceId: string): void;
  /** Says why not, and remembers what is true of everybody until a time that is known. */
  refused(ticket: Ticket, noes: Noes): AdmissionRefused;
  /** What need not be asked again, since the answer is known for a while yet. */
  refusal(ticket: Ticket): AdmissionRefused | undefined;
  /** This process gives a permit back; `unsent`: its request leaves the window before its time. */
  givenBack(sourceId: string, how: { readonly unsent: boolean }): void;
  park(sourceId: string, forMs: number): void;
  parked(): Record<string, number>;
  readonly phases: ReadonlyMap<string, BreakerPhase>;
  readonly concurrencies: ReadonlyMap<string, number>;
}

interface Pauses {
  parkedUntilMs: number;
  coolingUntilMs: number;
  windowUntilMs: number;
  spent: RequestsSpent | undefined;
  placesUntilMs: number;
  /** What only asking can tell: what is given back, here or elsewhere, changes it. */
  places: Pick<Noes, 'paced' | 'inUse' | 'turn' | 'tokens'>;
}

const noPauses: Pauses = { parkedUntilMs: -Infinity, coolingUntilMs: -Infinity, windowUntilMs: -Infinity, spent: undefined, placesUntilMs: -Infinity, places: {} };

/** For so long who waits believes that there is no room, so that a thousand callers who wait ask no more often than a few. */
const noPlaceMs = 100;

export function createSightings({ now, report }: { readonly now: () => number; readonly report: Report }): Sightings {
  const phases = new Map<string, BreakerPhase>();
  const concurrencies = new Map<string, number>();
  const pauses = new Map<string, Pauses>();

  function pausesOf(sourceId: string): Pauses {
    const known = pauses.get(sourceId) ?? { ...noPauses };
    pauses.set(sourceId, known);
    return known;
  }

  function remember(sourceId: string, { parkedMs = 0, breaker, paced, inUse, turn, tokens, requests }: Noes): void {
    const places = { ...(paced && { paced }), ...(inUse !== undefined && { inUse }), ...(turn && { turn }), ...(tokens && { tokens }) };
    pauses.set(sourceId, {
      // A pause of which this process has just heard may not have got there yet.
      parkedUntilMs: Math.max(pausesOf(sourceId).parkedUntilMs, now() + parkedMs),
      coolingUntilMs: now() + (breaker?.type === 'cooling' ? breaker.leftMs : 0),
      windowUntilMs: now() + (requests?.leavesInMs ?? 0),
      spent: requests,
      placesUntilMs: now() + (Object.keys(places).length > 0 ? noPlaceMs : 0),
      places,
    });
  }

  return {
    phases,
    concurrencies,
    note(attempt, { phase, concurrency, changes = {} }) {
      const { source } = attempt;
      if (phase !== undefined) phases.set(source, phase);
      if (concurrency !== undefined) concurrencies.set(source, concurrency);
      if (changes.concurrency !== undefined) concurrencies.set(source, changes.concurrency);
      const told = toEvents(attempt, changes);
      // A breaker that closes has paced its source before anybody hears of it.
      for (const event of changes.breaker?.to === 'closed' ? told.reverse() : told) report(event);
    },
    lostSightOfBreaker: (sourceId) => void phases.delete(sourceId),
    refused(ticket, noes) {
      remember(ticket.sourceId, noes);
      const refusals = refusalsOf(ticket, noes);
      return refusals.length > 0 ? jointRefusal(refusals) : refuse(`${ticket.sourceId} was asked on behalf of one who has left`, { sourceId: ticket.sourceId });
    },
    refusal(ticket) {
      const known = pauses.get(ticket.sourceId);
      if (known === undefined) return undefined;
      const { spent, parkedUntilMs, coolingUntilMs, windowUntilMs, placesUntilMs, places } = known;
      const leftMs = (untilMs: number): number => Math.max(0, untilMs - now());
      const refusals = refusalsOf(ticket, {
        parkedMs: leftMs(parkedUntilMs),
        ...(leftMs(coolingUntilMs) > 0 && { breaker: { type: 'cooling', leftMs: leftMs(coolingUntilMs) } }),
        ...(spent !== undefined && leftMs(windowUntilMs) > 0 && { requests: { ...spent, leavesInMs: leftMs(windowUntilMs) } }),
        ...(ticket.waits === true && leftMs(placesUntilMs) > 0 && fitting(places, ticket, noPlaceMs - leftMs(placesUntilMs))),
      });
      return refusals.length > 0 ? jointRefusal(refusals) : undefined;
    },
    givenBack(sourceId, { unsent }) {
      const known = pausesOf(sourceId);
      known.placesUntilMs = -Infinity;
      if (unsent) known.windowUntilMs = -Infinity;
    },
    park(sourceId, forMs) {
      const known = pausesOf(sourceId);
      known.parkedUntilMs = Math.max(known.parkedUntilMs, now() + forMs);
    },
    parked: () => Object.fromEntries([...pauses].map(([id, { parkedUntilMs }]) => [id, parkedUntilMs - now()] as const).filter(([, leftMs]) => leftMs > 0)),
  };
}

/** There may be room for one that wants fewer tokens, and more of it with time. */
function fitting({ tokens, ...places }: Pauses['places'], ticket: Ticket, sinceMs: number): Pauses['places'] {
  if (tokens === undefined || tokensToReserve(ticket, tokens) < tokens.wanted || tokens.asThingsStand <= sinceMs) return places;
  return { ...places, tokens: { ...tokens, asThingsStand: tokens.asThingsStand - sinceMs, atTheEarliest: Math.max(0, tokens.atTheEarliest - sinceMs) } };
}

function toEvents(attempt: OfAttempt, { breaker, concurrency }: NonNullable<Sighting['changes']>): GatewayEventBody[] {
  return [
    ...(breaker === undefined ? [] : [{ type: 'breaker-changed' as const, ...attempt, coolDownMs: null, ...breaker }]),
    ...(concurrency === undefined ? [] : [{ type: 'pace-changed' as const, ...attempt, concurrency }]),
  ];
}

/** In the words of the governors that keep their state in this process, and in their order. */
function refusalsOf({ sourceId, role }: Ticket, { parkedMs = 0, breaker, paced, inUse, requests, tokens, turn }: Noes): AdmissionRefused[] {
  const refusals = [
    parkedMs > 0 && parkedRefusal(sourceId, parkedMs),
    breaker && breakerRefusal(sourceId, breaker, role),
    paced && pacedRefusal(sourceId, paced),
    inUse !== undefined && atOnceRefused(sourceId, { inUse }),
    requests && requestsRefused(sourceId, requests),
    tokens && tokensRefused(sourceId, tokens),
    turn && refuse(`${sourceId} has room for ${turn.free} more, and ${turn.longer} other processes have waited for it longer`, { sourceId, gate: 'turn' }),
  ];
  return refusals.flatMap((refusal) => (refusal ? [refusal] : []));
}
