/** A sign of a marble diagram, when it stands there, and at which character it is written. */
export interface Sign {
  readonly atMs: number;
  readonly symbol: string;
  readonly column: number;
}

/** A diagram that cannot be read: what is wrong with which character. */
export interface Fault {
  readonly column: number;
  readonly what: string;
}

type Token = { readonly column: number } & ({ readonly type: 'wait'; readonly ms: number } | { readonly type: 'sign'; readonly symbol: string } | { readonly type: 'open' | 'close' });

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** A wait, one character, or nothing but white space; a wait has white space, or an end of the diagram, on both sides. */
const tokens = /(?<=^|\s)(?<count>\d+(?:\.\d+)?)(?<unit>ms|s|m)(?=\s|$)|(?<char>\S)/gu;

/**
 * The signs of a diagram, one character a millisecond; those of a group stand where it begins. Read here and not by RxJS, whose
 * frames are ten milliseconds outside of `run`, and which takes every mistake for a letter.
 */
export function parseDiagram(diagram: string): { readonly signs: readonly Sign[]; readonly faults: readonly Fault[] } {
  const signs: Sign[] = [];
  const faults: Fault[] = [];
  let nowMs = 0;
  let group: { atMs: number; column: number } | undefined;
  for (const token of tokensOf(diagram)) {
    const { column, type } = token;
    if (type === 'sign') signs.push({ atMs: group?.atMs ?? nowMs, symbol: token.symbol, column });
    if (type === 'open' && group !== undefined) faults.push({ column, what: 'a group cannot stand inside a group' });
    if (type === 'close' && group === undefined) faults.push({ column, what: 'no group is open that ")" could close' });
    if (type === 'wait' && group !== undefined) faults.push({ column, what: 'no time passes inside a group' });
    if (type === 'open') group = { atMs: nowMs, column };
    if (type === 'close') group = undefined;
    nowMs += type === 'wait' ? token.ms : 1;
  }
  if (group !== undefined) faults.push({ column: group.column, what: 'the group is not closed by ")"' });
  return { signs, faults };
}

function tokensOf(diagram: string): readonly Token[] {
  return [...diagram.matchAll(tokens)].map(({ index: column, groups = {} }): Token => {
    const { count, unit = '', char = '' } = groups;
    if (count !== undefined) return { column, type: 'wait', ms: Number(count) * (unitMs[unit] ?? 1) };
    if (char === '-') return { column, type: 'wait', ms: 1 };
    if (char === '(') return { column, type: 'open' };
    if (char === ')') return { column, type: 'close' };
    return { column, type: 'sign', symbol: char };
  });
}

/** What stands for itself in a diagram where nobody says what it stands for. */
export function standsForItself(symbol: string): boolean {
  return /^[\p{L}\p{N}]$/u.test(symbol);
}

/** A message that points at the character; `failed`: what cannot be done with which diagram. */
export function showFault(failed: string, diagram: string, { column, what }: Fault): string {
  const line = diagram.replace(/\s/g, ' ');
  return `${failed}: ${what}.\n  ${line}\n  ${' '.repeat(Array.from(line.slice(0, column)).length)}^`;
}
