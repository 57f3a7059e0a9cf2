const synonyms: Record<string, readonly string[]> = {
  stop: ['stop', 'end', 'end_turn', 'eos', 'eos_token', 'stop_sequence', 'complete', 'completed'],
  length: ['length', 'max_tokens', 'max_output_tokens', 'max_length', 'model_length', 'model_context_window_exceeded'],
  tool_calls: ['tool_calls', 'tool_call', 'tool_use', 'function_call'],
  content_filter: ['content_filter', 'content_filtered', 'safety', 'sensitive', 'refusal', 'recitation', 'blocklist', 'prohibited_content', 'spii'],
};

const known = new Map(Object.entries(synonyms).flatMap(([reason, words]) => words.map((word) => [word, reason] as const)));
const failures = new Set(['error', 'network_error', 'insufficient_system_resource', 'abort', 'aborted']);

/** A provider's finish reason in OpenAI's words; one that has no such word is passed on as it is. */
export function finishReason(word: string): string {
  return known.get(word.toLowerCase()) ?? word;
}

/** Whether a finish reason says that the generation broke, which is no end of an answer. */
export function saysFailed(word: string): boolean {
  return failures.has(word.toLowerCase());
}
