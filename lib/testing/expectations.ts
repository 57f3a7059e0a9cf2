import type { RunHelpers } from 'rxjs/testing';
import { MarbleMismatch } from './marbleMismatch.js';
import { mismatchOf } from './mismatchOf.js';
import { parseDiagram } from './parseDiagram.js';
import type { SubscriptionTimes } from './messageOfSubscriptions.js';
import type { Letters } from './symbolsOf.js';
import type { Told } from './told.js';
import { GatewayAssertionError } from './verdict.js';
import type { Verdict } from './verdict.js';

/** The checks of one marble test: they are all made, and the first that failed is thrown, at the line where it was written. */
export interface Expectations {
  /** For the `TestScheduler`. */
  compare(this: void, actual: unknown, expected: unknown): void;
  /** RxJS's helpers, which remember what was written where. */
  watch(this: void, helpers: RunHelpers): Pick<RunHelpers, 'expectObservable' | 'expectSubscriptions' | 'flush'>;
  /** `from`: the function by which it was registered. */
  check(this: void, verdict: () => Verdict, from: (...args: never[]) => unknown): void;
  afterwards(this: void, check: () => void): void;
  /** To be called when virtual time has run out. */
  finish(this: void): void;
}

interface Written {
  /** The frames of a diagram and its values, by which it is known again. */
  readonly diagram: string;
  /** `undefined`: each letter is its own value. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  readonly logs?: unknown;
  readonly site: Error;
}

export function openExpectations(): Expectations {
  const written: Written[] = [];
  const unfinished = new Map<object, Error>();
  const checks: (() => void)[] = [];
  const failures: unknown[] = [];
  let isOver = false;

  const begin = (name: string, from: (...args: never[]) => unknown): object => {
    if (isOver) throw new Error(`${name}(…) was called when virtual time had run out, so that nothing would be compared. Call it in the body of marbles(…).`);
    const expectation = {};
    unfinished.set(expectation, siteOf(`${name}(…) was called without toBe(…), so that nothing would be compared. Say what is expected.`, from));
    return expectation;
  };
  const throwFirst = (): void => {
    const [first, ...others] = failures.splice(0);
    if (first !== undefined) throw withOthers(first, others);
  };

  return {
    compare(actual, expected) {
      const found = written.find((one) => one.logs === actual || isOf(one, expected));
      const message = mismatchOf(actual, expected, found === undefined ? undefined : lettersOf(found));
      if (message !== undefined) failures.push(at(found?.site, new MarbleMismatch(message)));
    },
    watch: (helpers) => ({
      expectObservable: function expectObservable(observable, subscription) {
        const expectation = begin('expectObservable', expectObservable);
        const given = helpers.expectObservable(observable, subscription);
        return {
          toBe: function toBe(diagram: string, values?: unknown, error?: unknown) {
            unfinished.delete(expectation);
            const known = isRecord(values) ? values : undefined;
            refuseUnknown(diagram, known);
            written.push({ diagram, values: known, site: siteOf('', toBe) });
            given.toBe(diagram, values, error);
          },
          toEqual(other) {
            unfinished.delete(expectation);
            given.toEqual(other);
          },
        };
      },
      expectSubscriptions: function expectSubscriptions(logs) {
        const expectation = begin('expectSubscriptions', expectSubscriptions);
        const given = helpers.expectSubscriptions(logs);
        return {
          toBe: function toBe(diagrams: string | string[]) {
            unfinished.delete(expectation);
            written.push({ diagram: '', values: undefined, logs, site: siteOf('', toBe) });
            given.toBe(diagrams);
          },
        };
      },
      flush() {
        helpers.flush();
        throwFirst();
      },
    }),
    check: (verdict, from) => {
      const site = siteOf('', from);
      checks.push(() => {
        const { pass, message } = verdict();
        if (!pass) throw at(site, new GatewayAssertionError(message()));
      });
    },
    afterwards: (check) => void checks.push(check),
    finish() {
      isOver = true;
      for (const check of checks) {
        try {
          check();
        } catch (error) {
          failures.push(error);
        }
      }
      failures.push(...unfinished.values());
      throwFirst();
    },
  };
}

/** RxJS hands over what it has made of a diagram, not the diagram: it is found by times and values. */
function isOf({ diagram, values }: Written, expected: unknown): boolean {
  const signs = parseDiagram(diagram).signs.filter(({ symbol }) => symbol !== '^');
  const all = expected as readonly (Told | SubscriptionTimes)[];
  if (!Array.isArray(expected) || signs.length !== all.length) return false;
  return signs.every(({ symbol }, nth) => {
    const told = all[nth];
    if (told === undefined || !('notification' in told)) return false;
    const { kind, value } = told.notification;
    if ((kind === 'C') !== (symbol === '|') || (kind === 'E') !== (symbol === '#')) return false;
    return kind !== 'N' || Object.is(value, values === undefined ? symbol : values[symbol]);
  });
}

function lettersOf({ values }: Written): Letters {
  return new Map(Object.entries(values ?? {}));
}

/** RxJS would expect `undefined` for a letter that was forgotten. */
function refuseUnknown(diagram: string, values: Written['values']): void {
  const unknown = parseDiagram(diagram).signs.find(({ symbol }) => values !== undefined && !'|#^'.includes(symbol) && !(symbol in values));
  if (unknown !== undefined) throw new Error(`toBe('${diagram}', …) does not say what "${unknown.symbol}" stands for: it has values for ${Object.keys(values ?? {}).join(', ') || 'no letter'}. Add it, or leave the values out, so that each letter is its own.`);
}

/** Where `below` was called. */
function siteOf(message: string, below: (...args: never[]) => unknown): Error {
  const site = new Error(message);
  Error.captureStackTrace(site, below);
  return site;
}

/** An error as if it had been thrown where the expectation was written, so that a runner points there. */
function at(site: Error | undefined, error: Error): Error {
  const frames = /\n\s+at [\s\S]*/.exec(site?.stack ?? '')?.[0];
  if (frames !== undefined) error.stack = `${error.name}: ${error.message}${frames}`;
  return error;
}

function withOthers(first: unknown, others: readonly unknown[]): unknown {
  if (others.length === 0 || !(first instanceof MarbleMismatch || first instanceof GatewayAssertionError)) return first;
  const lines = others.slice(0, 8).map((other) => `  - ${other instanceof Error ? (other.message.split('\n')[0] ?? '') : String(other)}`);
  const message = `${first.message}\n\n${others.length} more ${others.length === 1 ? 'check' : 'checks'} failed:\n${lines.join('\n')}`;
  first.stack = first.stack?.replace(first.message, () => message) ?? message;
  first.message = message;
  return first;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
