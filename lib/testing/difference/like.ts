import { likeMark } from './asymmetric.js';
import type { Like } from './asymmetric.js';
import { differencesOf } from './differencesOf.js';
import { showValue } from './showValue.js';

/**
 * Stands for every value that has these fields, however deep, whatever else it has; lists, sets and maps are whole, and what is in them partial.
 * In a marble diagram, in the assertions of this kit, and wherever a framework honours `asymmetricMatch`.
 *
 *     expectObservable(gateway.chat$(request)).toBe('- 20s ---(r|)', { r: like({ content: 'x', stats: { hedges: 1 } }) });
 *     expectObservable(gateway.chat$(request)).toBe('#', undefined, like({ code: 'call_deadline' }));
 */
export function like<const T>(partial: T): Like<T> {
  const made: Like<T> & Record<string | symbol, unknown> = {
    partial,
    asymmetricMatch: (other) => differencesOf(other, partial, { partial: true }).length === 0,
    toString: () => 'like',
    // By these two, jest and vitest print a matcher in its own words.
    toAsymmetricMatcher: () => `like ${showValue(partial)}`,
    $$typeof: Symbol.for('jest.asymmetricMatcher'),
    [likeMark]: true,
  };
  return made;
}
