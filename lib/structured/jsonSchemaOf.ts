import { ConfigError, messageOf } from '../model/errors.js';
import type { StandardJsonSchema, StandardSchema } from './standardSchema.js';

export interface JsonSchemaOptions {
  /** Whose schema it is, for messages. */
  readonly of: string;
  /** Written by hand, it is taken as it is. */
  readonly jsonSchema?: Record<string, unknown> | undefined;
  /** As OpenAI's `strict: true` wants it: objects take no other fields, and each of theirs is required. */
  readonly strict: boolean;
}

/** A schema as JSON Schema, of what a model has to write. Throws `ConfigError` where none can be made. */
export function jsonSchemaOf(schema: StandardSchema, { of, jsonSchema, strict }: JsonSchemaOptions): Record<string, unknown> {
  if (jsonSchema !== undefined) return jsonSchema;
  const made = converted(schema, of);
  if (made['type'] !== 'object') throw wrong(of, 'has to be an object, which is what providers take', 'put what it is into a field of an object');
  if (!strict) return made;
  const faults: Faults = { optional: [], open: [], untyped: [] };
  const closed = close(made, [], faults) as Record<string, unknown>;
  const problems = (['optional', 'open', 'untyped'] as const).filter((fault) => faults[fault].length > 0).map((fault) => strictProblem(of, fault, faults[fault]));
  if (problems.length > 0) throw new ConfigError(problems);
  return closed;
}

/** Places at which a schema is less strict than it has to be. */
type Faults = Record<'optional' | 'open' | 'untyped', string[]>;

const whatIsLoose: Readonly<Record<keyof Faults, readonly [what: string, remedy: string]>> = {
  optional: ['optional fields', 'make them nullable'],
  open: ['objects that take any field', 'list their fields'],
  untyped: ['values of any type', 'say what they are'],
};

function strictProblem(of: string, fault: keyof Faults, places: readonly string[]): string {
  const [what, remedy] = whatIsLoose[fault];
  return problem(of, `has ${what} (${[...new Set(places)].join(', ')}), and strict: true takes none`, `${remedy}, or say strict: false`);
}

function converted(schema: StandardSchema, of: string): Record<string, unknown> {
  const { vendor } = schema['~standard'];
  if (!isConvertible(schema)) throw wrong(of, `(${vendor}) cannot be written as JSON Schema by itself, as those of zod can from 4.2 on`, 'give jsonSchema beside it');
  try {
    const made = { ...schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) };
    // Which dialect it is, some providers take for a fault.
    delete made['$schema'];
    return made;
  } catch (cause) {
    throw wrong(of, `(${vendor}) cannot be written as JSON Schema: ${messageOf(cause)}`, 'give jsonSchema beside it', cause);
  }
}

function isConvertible(schema: StandardSchema): schema is StandardSchema & StandardJsonSchema {
  return 'jsonSchema' in schema['~standard'];
}

function wrong(of: string, what: string, remedy: string, cause?: unknown): ConfigError {
  return new ConfigError([problem(of, what, remedy)], { cause });
}

function problem(of: string, what: string, remedy: string): string {
  return `the schema of ${of} ${what}: ${remedy}`;
}

/** Keywords whose value is a schema or a list of them; what others hold, such as `default` and `examples`, is none. */
const schemas = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf']);
const namedSchemas = new Set(['properties', '$defs', 'definitions']);
/** One of these says what a value is. */
const typeWords = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'];

/** Notes what is not strict enough. */
function close(node: unknown, path: readonly string[], faults: Faults): unknown {
  if (Array.isArray(node)) return node.map((item) => close(item, path, faults));
  if (!isRecord(node)) {
    if (node === true) faults.untyped.push(placeOf(path));
    return node;
  }
  const closed = mapped(node, (value, keyword) => {
    if (schemas.has(keyword)) return close(value, path, faults);
    return namedSchemas.has(keyword) && isRecord(value) ? mapped(value, (field, name) => close(field, [...path, name], faults)) : value;
  });
  if (!typeWords.some((word) => word in node) || isListOfAnything(node)) faults.untyped.push(placeOf(path));
  return has(node, 'object') ? closedObject(node, closed, { path, faults }) : closed;
}

function closedObject(node: Record<string, unknown>, closed: Record<string, unknown>, { path, faults }: { path: readonly string[]; faults: Faults }): Record<string, unknown> {
  const { properties, required, additionalProperties = false } = node;
  if (!isRecord(properties) || additionalProperties !== false) faults.open.push(placeOf(path));
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const names = isRecord(properties) ? Object.keys(properties) : [];
  faults.optional.push(...names.filter((name) => !needed.includes(name)).map((name) => [...path, name].join('.')));
  return { additionalProperties: false, ...closed };
}

function isListOfAnything(node: Record<string, unknown>): boolean {
  return has(node, 'array') && !('items' in node) && !('prefixItems' in node);
}

function has({ type }: Record<string, unknown>, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function placeOf(path: readonly string[]): string {
  return path.join('.') || 'its root';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapped(record: Record<string, unknown>, map: (value: unknown, key: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
