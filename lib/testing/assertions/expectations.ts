import type { TestScheduler } from 'rxjs/testing';
import { checkedDiagram, inRunMode } from '../checkedDiagram.js';
import type { WrittenDiagram } from '../checkedDiagram.js';
import { MarbleMismatch } from '../difference/marbleMismatch.js';
import { mismatchOf } from '../difference/mismatchOf.js';
import { promiseFault } from './promiseFault.js';
import { siteOf, thrownAt } from './site.js';
import { subscriptionOf } from '../subscriptionOf.js';
import type { Writing } from '../difference/symbolsOf.js';
import type { Told } from '../difference/told.js';
import { GatewayAssertionError } from './verdict.js';
import type { Verdict } from './verdict.js';
import { withOthers } from './withOthers.js';

/** The checks of one marble test: they are all made, and the first that failed is thrown, at the line where it was written. */
export interface Expectations {
  /** For the `TestScheduler`. */
  compare(this: void, actual: unknown, expected: unknown): void;
  /** From now on what is expected of this scheduler is remembered, and where it was written. */
  watch(this: void, testScheduler: TestScheduler): void;
  /** `from`: the function by which it was registered. */
  check(this: void, verdict: () => Verdict, from: (...args: never[]) => unknown): void;
  afterwards(this: void, check: () => void): void;
  /** Throws what has failed by now. */
  throwFirst(this: void): void;
  /** To be called when virtual time has run out. */
  finish(this: void): void;
}

/** RxJS compares in the order in which expectations were begun; those without `toBe` wait. */
interface Begun {
  /** Where it was written; before `toBe`, what is to be thrown if there never is one. */
  site: Error;
  ready: boolean;
  diagram?: WrittenDiagram;
}

type Below = (...args: never[]) => unknown;

export function openExpectations(): Expectations {
  const queue: Begun[] = [];
  const checks: (() => void)[] = [];
  const failures: { readonly thrown: unknown }[] = [];
  let isOver = false;

  const begin = (name: string, from: Below): Begun => {
    if (isOver) throw new Error(`${name}(…) was called when virtual time had run out, so that nothing would be compared. Call it in the body of marbles(…).`);
    const begun: Begun = { ready: false, site: siteOf(`${name}(…) was called without toBe(…), so that nothing would be compared. Say what is expected.`, from) };
    queue.push(begun);
    return begun;
  };
  const settle = (begun: Begun, from: Below, diagram?: WrittenDiagram): void => {
    Object.assign(begun, { ready: true, site: siteOf('', from), diagram });
  };
  const throwFirst = (): void => {
    const [first, ...others] = failures.splice(0);
    if (first !== undefined) throw withOthers(first.thrown, others.map(({ thrown }) => thrown));
  };

  return {
    compare(actual, expected) {
      const begun = queue.find(({ ready }) => ready);
      if (begun !== undefined) queue.splice(queue.indexOf(begun), 1);
      const message = mismatchOf(actual, expected, writingOf(begun?.diagram, expected as readonly Told[]));
      if (message !== undefined) failures.push({ thrown: thrownAt(begun?.site, new MarbleMismatch(message)) });
    },
    watch(testScheduler) {
      const observe = testScheduler.expectObservable.bind(testScheduler);
      const subscriptions = testScheduler.expectSubscriptions.bind(testScheduler);
      testScheduler.expectObservable = function expectObservable(observable$, subscription = null) {
        const begun = begin('expectObservable', expectObservable);
        if (subscription !== null) subscriptionOf(subscription);
        const given = observe(observable$, subscription === null ? null : inRunMode(subscription));
        return {
          toBe: function toBe(diagram: string, values?: unknown, error?: unknown) {
            settle(begun, toBe, checkedDiagram(diagram, values));
            given.toBe(inRunMode(diagram), values, error);
          },
          toEqual: function toEqual(other$) {
            settle(begun, toEqual);
            given.toEqual(other$);
          },
        };
      };
      testScheduler.expectSubscriptions = function expectSubscriptions(logs) {
        const begun = begin('expectSubscriptions', expectSubscriptions);
        const given = subscriptions(logs);
        return {
          toBe: function toBe(diagrams: string | string[]) {
            const all = [diagrams].flat();
            all.forEach(subscriptionOf);
            settle(begun, toBe);
            given.toBe(all.map(inRunMode));
          },
        };
      };
    },
    check: (verdict, from) => {
      const site = siteOf('', from);
      checks.push(() => {
        const { pass, message } = verdictAt(site, verdict);
        if (!pass) throw thrownAt(site, new GatewayAssertionError(message()));
      });
    },
    afterwards: function afterwards(check: () => unknown) {
      const site = siteOf('', afterwards);
      checks.push(() => {
        const fault = promiseFault(check(), 'What afterwards(…) was given', 'Leave out `async` and `await`: what is awaited would be checked when the test is over.');
        if (fault !== undefined) throw thrownAt(site, fault);
      });
    },
    throwFirst,
    finish() {
      isOver = true;
      for (const check of checks) {
        try {
          check();
        } catch (thrown) {
          failures.push({ thrown });
        }
      }
      failures.push(...queue.map(({ site }) => ({ thrown: site })));
      throwFirst();
    },
  };
}

/** What is wrong with the expectation itself is thrown there too. */
function verdictAt(site: Error, verdict: () => Verdict): Verdict {
  try {
    return verdict();
  } catch (error) {
    throw thrownAt(site, error);
  }
}

function writingOf(diagram: WrittenDiagram | undefined, expected: readonly Told[]): Writing | undefined {
  if (diagram === undefined) return undefined;
  const { values, symbols } = diagram;
  return { values, symbols: new Map(expected.map((told, nth) => [told, symbols[nth] ?? '?'])) };
}
