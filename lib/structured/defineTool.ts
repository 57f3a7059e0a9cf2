import type { FunctionTool } from '../model/request.js';
import { jsonSchemaOf } from './jsonSchemaOf.js';
import type { StandardJsonSchema, StandardSchema } from './standardSchema.js';

/** What a tool is: its name, what it is for, what it takes. */
export interface ToolFields<Name extends string, S extends StandardSchema> {
  readonly name: Name;
  /** Tells the model when to call it; default: none. */
  readonly description?: string;
  /** What it takes: an object's schema of zod 4.2 or later, or of any library that follows Standard Schema, without asynchronous checks. */
  readonly parameters: S;
  /** Asks the provider to keep to the schema, whose fields must all be listed, required and of a known type then; default `false`. */
  readonly strict?: boolean;
}

/** `jsonSchema` has to be given where the schema cannot be written as JSON Schema by itself; it goes to the model as it is. */
export type ToolOptions<Name extends string, S extends StandardSchema> = ToolFields<Name, S> &
  (S extends StandardJsonSchema ? { readonly jsonSchema?: Record<string, unknown> } : { readonly jsonSchema: Record<string, unknown> });

/** A tool that the model may call, with the schema by which its calls are checked. */
export interface Tool<Name extends string = string, S extends StandardSchema = StandardSchema> {
  readonly name: Name;
  readonly parameters: S;
  /** What goes into the `tools` of a request. */
  readonly definition: FunctionTool;
}

/**
 * Defines a tool once, for the request and for reading the calls: `toolCallsOf` gives arguments of the schema's type.
 * Throws `ConfigError` for a schema that is no object's, that cannot be written as JSON Schema, or is not strict enough.
 *
 *     const weather = defineTool({ name: 'weather', parameters: z.object({ city: z.string() }) });
 *     const response = await gateway.chat({ messages, tools: [weather.definition] });
 *     for (const call of toolCallsOf(response, [weather])) {
 *       if (call.type === 'call') console.log(call.args.city);
 *     }
 */
export function defineTool<const Name extends string, S extends StandardSchema>(options: ToolOptions<Name, S>): Tool<Name, S> {
  const { name, description, parameters: schema, strict = false, jsonSchema } = options;
  const parameters = jsonSchemaOf(schema, { of: `the tool ${name}`, jsonSchema, strict });
  const definition: FunctionTool = {
    type: 'function',
    function: { name, ...(description === undefined ? {} : { description }), parameters, ...(strict ? { strict } : {}) },
  };
  return { name, parameters: schema, definition };
}
