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
  const optional: string[] = [];
  const closed = close(made, [], optional) as Record<string, unknown>;
  if (optional.length > 0) throw wrong(of, `has optional fields (${optional.join(', ')}), and strict: true takes none`, 'make them nullable, or say strict: false');
  return closed;
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
  return new ConfigError([`the schema of ${of} ${what}: ${remedy}`], { cause });
}

/** Notes the fields that are optional. */
function close(node: unknown, path: readonly string[], optional: string[]): unknown {
  if (Array.isArray(node)) return node.map((item) => close(item, path, optional));
  if (!isRecord(node)) return node;
  const closed = mapped(node, (value, keyword) =>
    keyword === 'properties' && isRecord(value) ? mapped(value, (field, name) => close(field, [...path, name], optional)) : close(value, path, optional),
  );
  const { type, properties, required } = node;
  if (type !== 'object' || !isRecord(properties)) return closed;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  optional.push(...Object.keys(properties).filter((name) => !needed.includes(name)).map((name) => [...path, name].join('.')));
  return { additionalProperties: false, ...closed };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapped(record: Record<string, unknown>, map: (value: unknown, key: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
