import type { JsonSchemaFormat } from '../model/request.js';
import { jsonSchemaOf } from './jsonSchemaOf.js';
import type { StandardJsonSchema, StandardSchema } from './standardSchema.js';

/** How the form of an answer is told to the model. */
export interface FormatOptions {
  /** Tells the model what the answer is for; default: none. */
  readonly description?: string;
  /** Asks the provider to keep to the schema, whose fields must all be listed, required and of a known type then; default `true`. */
  readonly strict?: boolean;
  /** Goes to the model as it is; default: made of the schema, where that can be written as JSON Schema by itself. */
  readonly jsonSchema?: Record<string, unknown>;
}

/**
 * The `response_format` that asks for JSON of this schema, which `parse` then reads. Throws `ConfigError` for a schema that
 * is no object's, that cannot be written as JSON Schema, or is not strict enough.
 *
 *     const Person = z.object({ name: z.string(), age: z.number() });
 *     gateway.chat$({ messages, response_format: responseFormat(Person, 'person') }).pipe(parse(Person)).subscribe(({ value }) => {
 *       console.log(value.name);
 *     });
 */
export function responseFormat(schema: StandardSchema & StandardJsonSchema, name: string, options?: FormatOptions): JsonSchemaFormat;
export function responseFormat(schema: StandardSchema, name: string, options: FormatOptions & { readonly jsonSchema: Record<string, unknown> }): JsonSchemaFormat;
export function responseFormat(schema: StandardSchema, name: string, { description, strict = true, jsonSchema }: FormatOptions = {}): JsonSchemaFormat {
  const made = jsonSchemaOf(schema, { of: `the answer ${name}`, jsonSchema, strict });
  return { type: 'json_schema', json_schema: { name, ...(description === undefined ? {} : { description }), schema: made, strict } };
}
