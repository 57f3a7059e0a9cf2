import { scopeSettings } from './settings.js';

const reservedGroups: ReadonlySet<string> = new Set(Object.values(scopeSettings).map(({ key }) => key.slice(0, key.indexOf('__'))));

const nameRule = 'must begin with a letter and hold only letters, digits, - and single _ that is not at the end';

/** What is wrong with a scope or provider as a part of an env key; `undefined` if nothing is. */
export function nameProblem(name: unknown): string | undefined {
  return typeof name === 'string' && /^[A-Za-z](?:[A-Za-z0-9-]|_(?![_]|$))*$/.test(name) ? undefined : nameRule;
}

/** What is wrong with the name of a provider (C7). */
export function providerProblem(name: unknown): string | undefined {
  if (typeof name === 'string' && reservedGroups.has(name.toUpperCase())) {
    return `is the name of a group of scope keys (${[...reservedGroups].join(', ')}) and cannot name a provider: choose another name (C7)`;
  }
  return nameProblem(name);
}
