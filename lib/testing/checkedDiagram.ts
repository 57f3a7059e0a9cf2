import { isAsymmetric } from './difference/asymmetric.js';
import { kindOf } from './difference/kindOf.js';
import { parseDiagram, showFault } from './parseDiagram.js';
import type { Fault, Sign } from './parseDiagram.js';

/** What the letters of a diagram stand for, and its signs in the order of their notifications. */
export interface WrittenDiagram {
  readonly values: Readonly<Record<string, unknown>>;
  readonly symbols: readonly string[];
}

/** Throws where a diagram cannot be what was meant; RxJS takes every mistake for a letter, and a letter that was forgotten for `undefined`. */
export function checkedDiagram(diagram: string, values: unknown, by = 'toBe'): WrittenDiagram {
  const { signs: all, faults } = parseDiagram(diagram);
  const signs = all.filter(({ symbol }) => symbol !== '^');
  const [fault] = [...faults, ...signs.flatMap((sign, at) => afterEnd(sign, signs.slice(0, at)))];
  if (fault !== undefined) throw new Error(showFault(`${by}('${diagram}') cannot be read`, diagram, fault));
  const fails = signs.some(({ symbol }) => symbol === '#');
  if (fails && (kindOf(values) === 'error' || isAsymmetric(values))) throw new Error(`${by}('${diagram}', …) has an error in the place of its values. The error is the third argument: ${by}('${diagram}', undefined, error).`);
  const symbols = signs.map(({ symbol }) => symbol);
  if (typeof values !== 'object' || values === null) return { values: {}, symbols };
  const unknown = symbols.find((symbol) => symbol !== '|' && symbol !== '#' && !(symbol in values));
  if (unknown !== undefined) throw new Error(`${by}('${diagram}', …) does not say what "${unknown}" stands for: it has values for ${Object.keys(values).join(', ') || 'no letter'}. Add it, or leave the values out, so that each letter is its own.`);
  return { values: values as WrittenDiagram['values'], symbols };
}

function afterEnd({ symbol, column }: Sign, earlier: readonly Sign[]): Fault[] {
  const end = earlier.find((sign) => sign.symbol === '|' || sign.symbol === '#');
  return end === undefined ? [] : [{ column, what: `"${symbol}" stands after the end, "${end.symbol}", where nothing can come` }];
}

/** RxJS reads a wait only where a space follows, and no white space but spaces. */
export function inRunMode(diagram: string): string {
  return `${diagram.replace(/\s/g, ' ')} `;
}
