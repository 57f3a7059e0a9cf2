/** What selection looks at. */
export interface Candidate {
  readonly id: string;
  /** Lower is asked first, whatever the strategy; default 0. */
  readonly priority?: number;
  /** Relative share under `weighted`, above 0; default 1. */
  readonly weight?: number;
}

/** Orders candidates without changing anything; stable, so that equal ones keep the order in which they were given. */
export type Strategy = <C extends Candidate>(candidates: readonly C[]) => C[];

export const priorityOf = ({ priority = 0 }: Candidate): number => priority;

/** Lower priority number first. */
export const byPriority: Strategy = lowestFirst(priorityOf);

/** Lowest figure first; each candidate's is looked up once. */
export function lowestFirst(figureOf: (candidate: Candidate) => number): Strategy {
  return (candidates) =>
    candidates
      .map((candidate) => ({ candidate, figure: figureOf(candidate) }))
      .sort((a, b) => a.figure - b.figure)
      .map(({ candidate }) => candidate);
}

/** Lower priority number first, and `order` among those that share one. */
export function amongEqualPriority(order: Strategy): Strategy {
  return (candidates) => {
    const priorities = [...new Set(candidates.map(priorityOf))].sort((a, b) => a - b);
    return priorities.flatMap((priority) => order(candidates.filter((candidate) => priorityOf(candidate) === priority)));
  };
}

/** The order in which a call asks: fewest tries in this call first, then the strategy (R2). */
export function rank<C extends Candidate>(candidates: readonly C[], tries: (id: string) => number, strategy: Strategy): C[] {
  return strategy(candidates).sort((a, b) => tries(a.id) - tries(b.id));
}
