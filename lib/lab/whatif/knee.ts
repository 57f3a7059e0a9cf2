/** What a choice costs and what is left after it; less of either is better. */
export interface Choice<T> {
  readonly value: T;
  readonly cost: number;
  readonly left: number;
}

/**
 * The choice after which more cost buys clearly less: on the curve of the best choices, the one farthest below the straight
 * line from `left` at no cost to the curve's end. On a curve that hardly bends that point is an accident, so it must bring at
 * least half of what the end brings. `undefined` where no choice makes `left` less.
 *
 *     left |o
 *          | \
 *          |  x          x: the knee
 *          |     ` - _
 *          |__________`_ cost
 */
export function knee<T>(choices: readonly Choice<T>[], leftAtNoCost: number): T | undefined {
  const curve = bestOf(choices, leftAtNoCost);
  const end = curve.at(-1);
  if (end === undefined) return undefined;
  const gained = ({ left }: Choice<T>): number => (leftAtNoCost - left) / (leftAtNoCost - end.left);
  const paid = ({ cost }: Choice<T>): number => (end.cost === 0 ? 0 : cost / end.cost);
  // The end itself lies on the line; a curve that never rises above it has no knee, and all of it is worth the same.
  return curve.filter((choice) => gained(choice) >= leastGain).reduce((best, choice) => (gained(choice) - paid(choice) > gained(best) - paid(best) + 1e-9 ? choice : best), end).value;
}

const leastGain = 0.5;

/** Growing cost, each with less left than all before it. */
function bestOf<T>(choices: readonly Choice<T>[], leftAtNoCost: number): Choice<T>[] {
  const curve: Choice<T>[] = [];
  for (const choice of [...choices].sort((a, b) => a.cost - b.cost || a.left - b.left)) {
    if (choice.left < (curve.at(-1)?.left ?? leftAtNoCost)) curve.push(choice);
  }
  return curve;
}
