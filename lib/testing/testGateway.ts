import type { TestScheduler } from 'rxjs/testing';
import { createGateway } from '../assemble/createGateway.js';
import type { Gateway } from '../assemble/createGateway.js';
import type { ScopeOptions } from '../assemble/scope.js';
import type { GatewaySettings } from '../config/settings.js';
import type { AttemptRecord, GatewayEvent } from '../model/events.js';
import type { Source } from '../model/source.js';
import { callsOf } from './callsOf.js';
import type { TestCall } from './callsOf.js';
import { hedgesOf } from './hedgesOf.js';
import type { TestHedge } from './hedgesOf.js';
import type { Script, ScriptLetters } from './script.js';
import { scriptedSource } from './scriptedSource.js';
import type { ScriptedSource, ScriptedSourceOptions } from './scriptedSource.js';

/** A script, or one for each request, with facts of its source such as `rpm`, `limits` or letters of its own; defaults as in `scriptedSource`. */
export interface ScriptWithFacts extends Omit<ScriptedSourceOptions, 'id' | 'scheduler'> {
  readonly script: Script | readonly Script[];
}

/** Scripts by the id of their source, in the order in which they are asked. */
export type Scripts = Readonly<Record<string, Script | readonly Script[] | ScriptWithFacts>>;

/** Sources and settings of a gateway in virtual time; `values` and `error` as in `ScriptLetters`. */
export interface TestGatewayOptions<S extends readonly Source[] | Scripts> extends ScriptLetters, Pick<ScopeOptions<Source>, 'backend' | 'random' | 'wrapSource'> {
  /** Sources of any kind, or scripts by id. `values` and `error` are the letters of those scripts. */
  readonly sources: S;
  /** As in production, with the same defaults and the same checks; default: none. */
  readonly settings?: Partial<Omit<GatewaySettings, 'sources'>>;
}

/** A gateway in virtual time, which remembers all that happened in it. */
export interface TestGateway<Id extends string = string> extends Gateway {
  /** The scripted sources, by id. */
  readonly sources: Readonly<Record<Id, ScriptedSource>>;
  /** Every call that was subscribed, in order. */
  readonly calls: readonly TestCall[];
  /** Every silence at which a backup was asked for, in order. */
  readonly hedges: readonly TestHedge[];
  /** The row of every attempt whose round is decided, in the order in which they were sent. */
  readonly rows: readonly AttemptRecord[];
  /** What `events$` has said. */
  readonly events: readonly GatewayEvent[];
}

/** The ids that are known when a program is compiled. */
export type IdsOf<S> = S extends readonly Source[] ? string : Extract<keyof S, string>;

/**
 * A real gateway over scripted sources whose only clock is a `TestScheduler`: calls of an hour take milliseconds and come
 * out exactly. Settings, their defaults and their checks are those of production; there is no jitter unless `random` is given.
 *
 *     slow:     -a 60s b|
 *     fast:               --x|         hedgeStallAfterS: 20
 *     chat$:    - 20s ---(r|)
 *
 * Throws `ConfigError` as `createGateway` does, and what `scriptedSource` throws of its scripts.
 *
 *     const gateway = testGateway({ sources: { slow: '-a 60s b|', fast: '--x|' }, settings: { hedgeStallAfterS: 20 } }, testScheduler);
 *     expectObservable(gateway.chat$(request).pipe(map(({ content }) => content))).toBe('- 20s ---(x|)');
 *     expectSubscriptions(gateway.sources.slow.subscriptions).toBe('^ 20s ---!');
 */
export function testGateway<const S extends readonly Source[] | Scripts>(options: TestGatewayOptions<S>, testScheduler: TestScheduler): TestGateway<IdsOf<S>> {
  const { sources: given, settings = {}, values, error, random = () => 1, backend, wrapSource } = options;
  const letters: ScriptLetters = { ...(values === undefined ? {} : { values }), ...(error === undefined ? {} : { error }) };
  const sources = isList(given) ? given : Object.entries(given).map(([id, script]) => sourceOf(script, { ...letters, id, scheduler: testScheduler }));
  const gateway = createGateway({
    settings: { scope: 'LLM', ...settings, sources: [] },
    sources,
    scheduler: testScheduler,
    random,
    ...(backend === undefined ? {} : { backend }),
    ...(wrapSource === undefined ? {} : { wrapSource }),
  });
  const events: GatewayEvent[] = [];
  // Hot, over when the gateway is closed, and it never fails: nobody has to be told of this subscription's end.
  // eslint-disable-next-line rxjs-x/no-ignored-subscription, rxjs-x/no-ignored-error
  gateway.events$.subscribe((event) => events.push(event));
  return {
    ...gateway,
    sources: Object.fromEntries(sources.filter(isScripted).map((source) => [source.id, source])) as Record<IdsOf<S>, ScriptedSource>,
    events,
    get calls() {
      return callsOf(events);
    },
    get hedges() {
      return hedgesOf(events);
    },
    get rows() {
      return events.flatMap((event) => (event.type === 'round-decided' ? event.records : [])).sort((one, other) => one.startedMs - other.startedMs);
    },
  };
}

function sourceOf(script: Scripts[string], options: ScriptedSourceOptions): ScriptedSource {
  if (!hasFacts(script)) return scriptedSource(script, options);
  const { script: scripts, ...facts } = script;
  return scriptedSource(scripts, { ...options, ...facts, values: { ...options.values, ...facts.values } });
}

function hasFacts(script: Scripts[string]): script is ScriptWithFacts {
  return typeof script === 'object' && 'script' in script;
}

function isList(sources: readonly Source[] | Scripts): sources is readonly Source[] {
  return Array.isArray(sources);
}

function isScripted(source: Source): source is ScriptedSource {
  return 'subscriptions' in source;
}
