import type { Band } from '../../lab/whatif/whatIf.js';

/** A predicted figure and the band it lies in: `41 s (36.9 to 45.1 s)`. */
export function bandText({ value, low, high }: Band, textOf: (figure: number) => string): string {
  const [from, to] = [textOf(low), textOf(high)];
  const [, number = from, unit] = /^(\S+) (\S+)$/.exec(from) ?? [];
  return `${textOf(value)} (${unit !== undefined && to.endsWith(` ${unit}`) ? number : from} to ${to})`;
}
