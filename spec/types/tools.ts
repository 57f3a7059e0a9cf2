import { z } from 'zod';
import * as mini from 'zod/mini';
import type { Observable } from 'rxjs';
import { defineTool, parse, responseFormat, toolCallsOf, toolMessage } from '../../lib/index.js';
import type { ChatResponse, Gateway, Parsed, StandardSchema, ToolMessage } from '../../lib/index.js';

declare const gateway: Gateway;
declare const response: ChatResponse;

const weather = defineTool({ name: 'weather', description: 'the weather now', parameters: z.object({ city: z.string(), days: z.coerce.number().default(1) }) });
const search = defineTool({ name: 'search', parameters: z.object({ query: z.string(), site: z.enum(['web', 'docs']) }), strict: true });

void gateway.chat$({ messages: [], tools: [weather.definition, search.definition] });

/** The name tells the type of the arguments, which is what the schema gives, not what it takes. */
export function run(): ToolMessage[] {
  return toolCallsOf(response, [weather, search]).map((call) => {
    if (call.type === 'invalid') return call.message;
    switch (call.name) {
      case 'weather':
        return toolMessage(call, call.args.city.repeat(call.args.days satisfies number));
      case 'search':
        return toolMessage(call, call.args.site satisfies 'web' | 'docs');
      default:
        return call satisfies never;
    }
  });
}

export function wrongUses(): void {
  for (const call of toolCallsOf(response, [weather, search])) {
    // @ts-expect-error it may be no valid call
    console.log(call.args);
    if (call.type === 'call' && call.name === 'weather') {
      // @ts-expect-error of the other tool
      console.log(call.args.query);
    }
    // @ts-expect-error no such tool
    if (call.type === 'call' && call.name === 'wether') console.log(call);
  }
}

/** A schema that cannot be written as JSON Schema by itself needs one beside it. */
const plain = mini.object({ city: mini.string() }) as StandardSchema<{ city: string }>;
// @ts-expect-error jsonSchema is missing
defineTool({ name: 'plain', parameters: plain });
defineTool({ name: 'plain', parameters: plain, jsonSchema: { type: 'object' } });
// @ts-expect-error jsonSchema is missing
responseFormat(plain, 'plain');
responseFormat(plain, 'plain', { jsonSchema: { type: 'object' } });

/** What is parsed has the type that the schema gives. */
const Person = z.object({ name: z.string(), born: z.iso.date().transform((day) => new Date(day)) });
export const person$: Observable<Parsed<{ name: string; born: Date }>> = gateway
  .chat$({ messages: [], response_format: responseFormat(Person, 'person', { description: 'who' }) })
  .pipe(parse(Person, { repair: (turns) => gateway.chat$({ messages: turns }) }));
// @ts-expect-error not that type
export const wrong$: Observable<Parsed<{ name: number }>> = gateway.chat$({ messages: [] }).pipe(parse(Person));
