/** What selection looks at. */
export interface Candidate {
  readonly id: string;
  readonly priority?: number;
}

/** Orders candidates; stable, so that equal ones keep the order in which they were given. */
export type Strategy = <C extends Candidate>(candidates: readonly C[]) => C[];

/** Lower priority number first. */
export const byPriority: Strategy = (candidates) => [...candidates].sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0));

/** The order in which a call asks: fewest tries in this call first, then the strategy (R2). */
export function rank<C extends Candidate>(candidates: readonly C[], tries: (id: string) => number, strategy: Strategy): C[] {
  return strategy(candidates).sort((a, b) => tries(a.id) - tries(b.id));
}
