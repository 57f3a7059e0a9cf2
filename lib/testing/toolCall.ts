import type { ToolCallDelta } from '../model/delta.js';

/**
 * A letter's value: a whole call of a tool. Of several in one answer, each has an `index` of its own, from 0.
 *
 *     testGateway({ sources: { llm: ['-t|', '-a|'] }, values: { t: toolCall('weather', { city: 'Oslo' }), a: 'Cold.' } }, testScheduler);
 */
export function toolCall(name: string, args: unknown, { index = 0, id = `call_${index}` }: { readonly index?: number; readonly id?: string } = {}): ToolCallDelta {
  return { type: 'tool-call', index, id, name, arguments: JSON.stringify(args) };
}
