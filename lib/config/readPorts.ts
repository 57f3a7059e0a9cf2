import type { SourceLimits } from '../model/source.js';
import type { CheckedSource } from './checks.js';
import { longestMs } from './plainKinds.js';
import type { ProblemLog } from './problemLog.js';
import type { Service } from './settings.js';
import { twins } from './twins.js';

interface Rule {
  readonly field: string;
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
}

const isCount = absentOr((value) => Number.isSafeInteger(value) && value >= 1);
const aCount = 'be a whole number of 1 or more, or be left out';

/** What the engine takes for granted of a source that is passed as a port. */
const rules: readonly Rule[] = [
  { field: 'id', must: 'be a text that is not empty', fits: (value) => isText(value) && value.trim() !== '' },
  { field: 'provider', must: 'be text', fits: isText },
  { field: 'model', must: 'be text', fits: isText },
  { field: 'maxConcurrency', must: aCount, fits: isCount },
  { field: 'priority', must: 'be a finite number, or be left out', fits: absentOr(Number.isFinite) },
  { field: 'rpm', must: aCount, fits: isCount },
  { field: 'tpm', must: aCount, fits: isCount },
  { field: 'weight', must: 'be a finite number above 0, or be left out', fits: absentOr((value) => value > 0 && Number.isFinite(value)) },
  { field: 'limits', must: 'be an object, {} where there are no limits', fits: isObject },
];

const method = (field: string): Rule => ({ field, must: 'be a function', fits: (value) => typeof value === 'function' });

/** What each service asks of its sources beside that. */
const rulesOf: Readonly<Record<Service, readonly Rule[]>> = {
  chat: [method('stream')],
  embedding: [
    method('embed'),
    { field: 'maxBatch', must: aCount, fits: isCount },
  ],
  ocr: [method('recognize')],
};

const limitRules: readonly (Rule & { readonly field: keyof SourceLimits })[] = (['timeoutMs', 'ttftTimeoutMs', 'interTokenTimeoutMs'] as const).map((field) => ({
  field,
  must: `be milliseconds above 0 and not above ${longestMs}, or be left out (T5)`,
  fits: absentOr((value) => value > 0 && value <= longestMs),
}));

/** Ports in place of sources, as the C checks want them; a limit that was refused is absent, so that no later check trips over it. */
export function readPorts(raw: unknown, serves: Service, log: ProblemLog): CheckedSource[] {
  if (!Array.isArray(raw) || raw.length === 0) {
    const given = Array.isArray(raw) ? 'empty' : log.show(raw);
    log.refuse(`sources is ${given}, which must be a list of at least one source: leave it out to use those of the settings`);
    return [];
  }
  const ports = raw.flatMap((port: unknown, index) => readPort(port, [...rules, ...rulesOf[serves]], `sources[${index}]`, log));
  for (const [first, twin] of twins(ports, ({ id }) => id)) {
    log.refuse(`${first.place} and ${twin.place} both have the id ${log.show(twin.id)}: give one of them another`);
  }
  return ports;
}

interface Port extends CheckedSource {
  readonly place: string;
}

function readPort(port: unknown, expected: readonly Rule[], place: string, log: ProblemLog): Port[] {
  if (!isObject(port)) {
    log.refuse(`${place} is ${log.show(port)}, but a source must be an object`);
    return [];
  }
  const fitting = fieldsThatFit(port, expected, `${place}.`, log);
  const limits = isObject(port['limits']) ? fieldsThatFit(port['limits'], limitRules, `${place}.limits.`, log) : {};
  // Without an id it can be no twin.
  return [{ id: place, ...fitting, place, limits }];
}

function fieldsThatFit(from: Readonly<Record<string, unknown>>, expected: readonly Rule[], path: string, log: ProblemLog): Record<string, unknown> {
  const good = expected.filter(({ field, must, fits }) => {
    if (fits(from[field])) return true;
    log.refuse(`${path}${field} is ${log.show(from[field])}, which must ${must}`);
    return false;
  });
  return Object.fromEntries(good.map(({ field }) => [field, from[field]] as const).filter(([, value]) => value !== undefined));
}

function absentOr(fits: (value: number) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || (typeof value === 'number' && fits(value));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** An instance of a class will do; a list is a mistake. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
