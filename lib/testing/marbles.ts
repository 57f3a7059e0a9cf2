import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';
import type { Source } from '../model/source.js';
import { compareMarbles } from './compareMarbles.js';
import { scriptedSource } from './scriptedSource.js';
import type { ScriptedSource, ScriptedSourceOptions } from './scriptedSource.js';
import type { Script } from './script.js';
import { testGateway } from './testGateway.js';
import type { IdsOf, Scripts, TestGateway, TestGatewayOptions } from './testGateway.js';

/** What RxJS hands to a marble test, and the kit on its scheduler. */
export interface MarbleHelpers extends RunHelpers {
  readonly testScheduler: TestScheduler;
  testGateway<const S extends readonly Source[] | Scripts>(this: void, options: TestGatewayOptions<S>): TestGateway<IdsOf<S>>;
  scriptedSource(this: void, scripts: Script | readonly Script[], options?: Omit<ScriptedSourceOptions, 'scheduler'>): ScriptedSource;
  /** Checks when virtual time has run out, as `expectObservable` does. */
  afterwards(this: void, check: () => void): void;
}

/**
 * A test in virtual time, for any runner: one frame is one millisecond, and a diagram that does not fit is shown beside what
 * happened.
 *
 *     test('a silent stream is hedged', marbles(({ testGateway, expectObservable }) => {
 *       const gateway = testGateway({ sources: { slow: '-a 60s b|', fast: '--x|' }, settings: { hedgeStallAfterS: 20 } });
 *       expectObservable(gateway.chat$(request).pipe(map(({ content }) => content))).toBe('- 20s ---(x|)');
 *     }));
 */
export function marbles(body: (helpers: MarbleHelpers) => void): () => void {
  return () => {
    const testScheduler = new TestScheduler(compareMarbles);
    const checks: (() => void)[] = [];
    testScheduler.run((helpers) =>
      body({
        ...helpers,
        testScheduler,
        testGateway: (options) => testGateway(options, testScheduler),
        scriptedSource: (scripts, options) => scriptedSource(scripts, { ...options, scheduler: testScheduler }),
        afterwards: (check) => void checks.push(check),
      }),
    );
    for (const check of checks) check();
  };
}
