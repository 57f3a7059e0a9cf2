import { inspect } from 'node:util';
import { leaksIn } from './plants.js';

/** All that has come out, by where it did. */
export interface Outputs {
  add(this: void, where: string, text: string): void;
  /** An error in every way of showing one. */
  addError(this: void, where: string, error: unknown): void;
  /** Where a plant shows, and which. */
  leaks(this: void): Record<string, readonly string[]>;
  readonly places: () => string[];
}

export function createOutputs(): Outputs {
  const texts = new Map<string, string>();
  const add: Outputs['add'] = (where, text) => void texts.set(where, (texts.get(where) ?? '') + text);
  return {
    add,
    addError: (where, error) => add(where, [inspect(error, { depth: 20, maxStringLength: null, maxArrayLength: null }), JSON.stringify(error), ...chainOf(error)].join('\n')),
    leaks: () => Object.fromEntries([...texts].map(([where, text]) => [where, leaksIn(text)] as const).filter(([, leaks]) => leaks.length > 0)),
    places: () => [...texts.keys()],
  };
}

function chainOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [String(error)];
  const { message, cause, errors } = error as { message?: unknown; cause?: unknown; errors?: unknown };
  const inner = [...(Array.isArray(errors) ? (errors as unknown[]) : []), ...(cause === undefined ? [] : [cause])];
  return [String(message), ...inner.flatMap(chainOf)];
}
