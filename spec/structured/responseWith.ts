import type { ChatResponse } from '../../lib/index.js';

/** An answer of which only these fields matter. */
export function responseWith(fields: Partial<ChatResponse>): ChatResponse {
  const { content = '' } = fields;
  return {
    content,
    reasoning: '',
    refusal: null,
    toolCalls: [],
    message: { role: 'assistant', content },
    finishReason: 'stop',
    usage: null,
    callId: 'c',
    model: 'm',
    source: 'a/1',
    providerRequestId: null,
    increments: 1,
    ttftMs: 1,
    maxInterTokenMs: 1,
    latencyMs: 2,
    callMs: 3,
    stats: { generationMs: 2, stallMs: 0, stallCount: 0, hedges: 0, hedgeWon: false, attempts: 1, waitedMs: 0 },
    ...fields,
  };
}
