import type { NoteGrant } from './countedGate.js';
import { priorityOf } from './rank.js';
import type { Candidate, Strategy } from './rank.js';

type OwedTo = (id: string) => number;

/**
 * Shares in proportion to weight, evenly spread: with all runnable no source is ever a whole request ahead of its share or
 * behind it. What is kept per source is what it is owed, in requests: its share of the grants less its own grants.
 */
export function createWeighted(sources: readonly Candidate[]): { readonly order: Strategy; readonly noteGrant: NoteGrant } {
  const owed = new Map<string, number>();
  const owedTo: OwedTo = (id) => owed.get(id) ?? 0;
  const add = (id: string, requests: number): void => void owed.set(id, owedTo(id) + requests);
  const peersOf = (sourceId: string): Candidate[] => {
    const itself = sources.find(({ id }) => id === sourceId);
    return itself === undefined ? [] : sources.filter((source) => priorityOf(source) === priorityOf(itself));
  };

  return {
    order: (candidates) => mostDueFirst(candidates, owedTo),
    noteGrant(sourceId) {
      const changes = changesBy(sourceId, mostDueFirst(peersOf(sourceId), owedTo));
      for (const { id, requests } of changes) add(id, requests);
      return () => { for (const { id, requests } of changes) add(id, -requests); };
    },
  };
}

/**
 * The one that was let in pays a request, of which each gets its share. Those that stand before it were passed over, so they
 * could not be asked: they keep what they are owed, always about one request at most, but gain nothing while they are away.
 */
function changesBy(sourceId: string, ranked: readonly Candidate[]): { id: string; requests: number }[] {
  const present = ranked.slice(ranked.findIndex(({ id }) => id === sourceId));
  const whole = totalWeight(present);
  return present.map((source) => ({ id: source.id, requests: weightOf(source) / whole - (source.id === sourceId ? 1 : 0) }));
}

/** Each place goes to the most due of those that are left, as though those before it were not there. */
function mostDueFirst<C extends Candidate>(candidates: readonly C[], owedTo: OwedTo): C[] {
  const left = [...candidates];
  const order: C[] = [];
  while (left.length > 0) order.push(...left.splice(mostDue(left, owedTo), 1));
  return order;
}

/**
 * Earliest deadline first, among those whose next request has begun to be due. A deadline is the moment at which a source
 * would be owed a whole request, counted in requests per unit of weight.
 */
function mostDue(candidates: readonly Candidate[], owedTo: OwedTo): number {
  const whole = totalWeight(candidates);
  const standings = candidates.map((source, index) => {
    const weight = weightOf(source);
    const owed = owedTo(source.id);
    return { index, early: owed + weight / whole <= 0, deadline: (1 - owed) / weight };
  });
  return standings.reduce((best, next) => (isMoreDue(next, best) ? next : best)).index;
}

type Standing = { readonly early: boolean; readonly deadline: number };

const isMoreDue = (a: Standing, b: Standing): boolean => (a.early === b.early ? a.deadline < b.deadline : b.early);

const weightOf = ({ weight = 1 }: Candidate): number => weight;
const totalWeight = (sources: readonly Candidate[]): number => sources.reduce((sum, source) => sum + weightOf(source), 0);
