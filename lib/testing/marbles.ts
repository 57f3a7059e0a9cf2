import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';
import type { Source } from '../model/source.js';
import { checkSources } from './checkSources.js';
import { refuseEndless } from './refuseEndless.js';
import { promiseFault } from './assertions/promiseFault.js';
import { openExpectations } from './assertions/expectations.js';
import type { Expectations } from './assertions/expectations.js';
import { parseDiagram } from './parseDiagram.js';
import { scriptedSource } from './scriptedSource.js';
import type { ScriptedSource, ScriptedSourceOptions } from './scriptedSource.js';
import type { Script } from './script.js';
import { testGateway } from './testGateway.js';
import type { IdsOf, Scripts, TestGateway, TestGatewayOptions } from './testGateway.js';
import type { Verdict } from './assertions/verdict.js';
import { verdictOfCalls, verdictOfHedges, verdictOfRest, verdictOfRows, verdictOfSockets } from './assertions/verdicts.js';
import type { ExpectedCalls, ExpectedHedges, ExpectedRows, ExpectedSockets } from './assertions/verdicts.js';

/** What RxJS hands to a marble test, and the kit on its scheduler. What begins with `expect` is checked when virtual time has run out. */
export interface MarbleHelpers extends RunHelpers {
  readonly testScheduler: TestScheduler;
  /** As `testGateway`, on this scheduler. */
  testGateway<const S extends readonly Source[] | Scripts>(this: void, options: TestGatewayOptions<S>): TestGateway<IdsOf<S>>;
  /** As `scriptedSource`, on this scheduler. */
  scriptedSource(this: void, scripts: Script | readonly Script[], options?: Omit<ScriptedSourceOptions, 'scheduler'>): ScriptedSource;
  /** As `assertCalls`. */
  expectCalls(this: void, gateway: TestGateway, expected: ExpectedCalls): void;
  /** As `assertHedges`. */
  expectHedges(this: void, gateway: TestGateway, expected: ExpectedHedges): void;
  /** As `assertRows`. */
  expectRows(this: void, gateway: TestGateway, expected: ExpectedRows): void;
  /** As `assertSockets`. */
  expectSockets<Id extends string>(this: void, gateway: TestGateway<Id>, expected: ExpectedSockets<Id>): void;
  /** As `assertAtRest`. */
  expectAtRest(this: void, gateway: TestGateway): void;
  /** Checks when virtual time has run out, as `expectObservable` does. */
  afterwards(this: void, check: () => void): void;
}

/** When a marble test is given up. */
export interface MarbleOptions {
  /** Timers that may fire before the test is taken for endless, and fails; default 200,000. A call takes some ten to a hundred. */
  readonly maxActions?: number;
}

/**
 * A test in virtual time, for any runner: one frame is one millisecond, and a diagram that does not fit is shown beside what
 * happened. Every check that was registered is made, also after another has failed. `time` understands waits: `time('20s |')`.
 *
 * A response has figures and a `callId` of its own, so expect it with `like`; its diagram is a group, `(r|)`, since `chat$` completes with
 * its value. An open call ends by its limits at the latest, and virtual time runs until then.
 *
 * Throws `MarbleMismatch` for diagrams, `GatewayAssertionError` for gateways, and an `Error` for an expectation without `toBe`, or
 * where `body`, or what `afterwards` was given, returns a promise: virtual time would have run out before its first `await` is over.
 *
 *     test('a silent stream is hedged', marbles(({ testGateway, expectObservable, expectSockets }) => {
 *       const gateway = testGateway({ sources: { slow: '-a 60s b|', fast: '--x|' }, settings: { hedgeStallAfterS: 20 } });
 *       expectObservable(gateway.chat$(request)).toBe('- 20s ---(r|)', { r: like({ content: 'x' }) });
 *       expectSockets(gateway, { slow: '^ 20s ---!' });
 *     }));
 */
export function marbles(body: (helpers: MarbleHelpers) => void, { maxActions = 200_000 }: MarbleOptions = {}): () => void {
  return () => {
    const run: (helpers: MarbleHelpers) => unknown = body;
    const expectations = openExpectations();
    const testScheduler = new TestScheduler(expectations.compare);
    refuseEndless(testScheduler, maxActions);
    checkSources(testScheduler);
    expectations.watch(testScheduler);
    testScheduler.run((helpers) => {
      const returned = run(helpersOf(helpers, testScheduler, expectations));
      const fault = promiseFault(returned, 'The body of marbles(…)', 'Leave out `async` and `await`: use chat$, not chat, and let `afterwards` look at what has become.');
      if (fault !== undefined) throw fault;
    });
    expectations.finish();
  };
}

function helpersOf(helpers: RunHelpers, testScheduler: TestScheduler, expectations: Expectations): MarbleHelpers {
  const registered = <A extends readonly unknown[]>(verdict: (...args: A) => Verdict): ((...args: A) => void) => {
    const register = (...args: A): void => expectations.check(() => verdict(...args), register);
    return register;
  };
  return {
    ...helpers,
    flush: () => {
      helpers.flush();
      expectations.throwFirst();
    },
    time: timeOf,
    testScheduler,
    testGateway: (options) => testGateway(options, testScheduler),
    scriptedSource: (scripts, options) => scriptedSource(scripts, { ...options, scheduler: testScheduler }),
    expectCalls: registered(verdictOfCalls),
    expectHedges: registered(verdictOfHedges),
    expectRows: registered(verdictOfRows),
    expectSockets: registered(verdictOfSockets),
    expectAtRest: registered(verdictOfRest),
    afterwards: expectations.afterwards,
  };
}

/** RxJS counts the characters before `|`, so that a wait of 20 s would be 4 ms long. */
function timeOf(diagram: string): number {
  const end = parseDiagram(diagram).signs.find(({ symbol }) => symbol === '|');
  if (end === undefined) throw new Error(`time('${diagram}') has no "|", which says how long it is. Write for instance time('---|').`);
  return end.atMs;
}
