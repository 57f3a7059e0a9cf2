import { isDeepStrictEqual } from 'node:util';
import type { SchedulerLike } from 'rxjs';
import type { Service } from '../config/settings.js';
import { shownValue } from '../config/shownValue.js';
import { ConfigError } from '../model/errors.js';
import type { EmbeddingSource, Upstream } from '../model/source.js';
import type { ScopeOptions } from './scope.js';

const methods: Readonly<Record<Service, string>> = { chat: 'stream', embedding: 'embed', ocr: 'recognize' };

/** What is known of a source: checked with the settings, and kept where admission, selection and telemetry look for it. */
const facts: readonly (keyof EmbeddingSource)[] = ['id', 'provider', 'model', 'limits', 'maxConcurrency', 'rpm', 'tpm', 'priority', 'weight', 'maxBatch'];

export interface WrapOptions<S extends Upstream> {
  readonly wrapSource: ScopeOptions<S>['wrapSource'];
  readonly serves: Service;
  readonly scheduler: SchedulerLike;
}

/** Each source as the wrapper gives it back. Throws `ConfigError` for what is no source, or not the same one. */
export function wrapSources<S extends Upstream>(sources: readonly S[], { wrapSource, serves, scheduler }: WrapOptions<S>): readonly S[] {
  if (wrapSource === undefined) return sources;
  if (typeof wrapSource !== 'function') throw new ConfigError([`wrapSource is ${shownValue(wrapSource, [])}, which must be a function that is given a source and returns one`]);
  const wrapped = sources.map((source) => [source, wrapSource(spreadable(source, methods[serves]), { scheduler })] as const);
  const problems = wrapped.flatMap(([source, given]) => problemsOf(source, given, methods[serves]));
  if (problems.length > 0) throw new ConfigError(problems);
  return wrapped.map(([, given]) => given);
}

/** A source may be a class with getters, of which `{ ...source }` would take nothing. */
function spreadable<S extends Upstream>(source: S, method: string): S {
  const fields = source as S & Readonly<Record<string, unknown>>;
  const known = Object.fromEntries(facts.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]])) as Partial<S>;
  return { ...source, ...known, [method]: (fields[method] as (...given: unknown[]) => unknown).bind(source) };
}

function problemsOf(source: Upstream, given: unknown, method: string): string[] {
  const remedy = `return { ...source, ${method} }`;
  const fields = Object(given) as Record<string, unknown>;
  if (typeof fields[method] !== 'function') return [`what wrapSource returned for ${source.id} is ${shown(given)}, which must be a source with the method ${method}: ${remedy}`];
  const before = source as unknown as Record<string, unknown>;
  return facts
    .filter((name) => !isDeepStrictEqual(before[name], fields[name]))
    .map((name) => `in what wrapSource returned for ${source.id}, ${name} is ${shown(fields[name])}, which must stay ${shown(before[name])}: ${remedy}, and set such facts in the settings`);
}

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  return isPlain(value) ? JSON.stringify(value) : shownValue(value, []);
}

/** Limits are numbers; anything else may hold a key. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.values(value).every((field) => typeof field === 'number');
}
