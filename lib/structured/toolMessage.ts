import type { ToolMessage } from '../model/request.js';

/**
 * The message that tells the model what a call has given: a text as it is, anything else as JSON, `null` for what has none.
 * Throws `TypeError` for what cannot be written as JSON: a BigInt, an object within itself.
 *
 *     const messages = [...request.messages, response.message, ...calls.map((call) => toolMessage(call, run(call)))];
 */
export function toolMessage(call: { readonly id: string }, result: unknown): ToolMessage {
  const content = typeof result === 'string' ? result : ((JSON.stringify(result) as string | undefined) ?? 'null');
  return { role: 'tool', tool_call_id: call.id, content };
}
