import type { ToolMessage } from '../model/request.js';

/**
 * The message that tells the model what a call has given: a text as it is, anything else as JSON.
 *
 *     const messages = [...request.messages, response.message, ...calls.map((call) => toolMessage(call, run(call)))];
 */
export function toolMessage(call: { readonly id: string }, result: unknown): ToolMessage {
  // What is not there has no JSON.
  const content = typeof result === 'string' ? result : JSON.stringify(result ?? null);
  return { role: 'tool', tool_call_id: call.id, content };
}
