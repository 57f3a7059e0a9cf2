/** What the engine says of an attempt that streamed for a few seconds, with texts and figures as long as real ones. */
export function sampleRecord(number) {
  const callId = `6f1c2ab4-90de-4f57-8a3c-${String(number).padStart(12, '0')}`;
  return {
    id: `${callId}:1`, callId, scope: 'LLM', round: 1, role: 'primary', hedgeTrigger: null,
    source: 'openai/1', provider: 'openai', model: 'gpt-4o-mini-2024-07-18', streamed: true,
    outcome: 'ok', errorClass: null, errorMessage: null, httpStatus: null, retryAfterMs: null,
    finishReason: 'stop', providerRequestId: 'chatcmpl-9f8e7d6c5b4a39281706f5e4d3c2b1a0', won: true,
    waitedMs: 0, ttftMs: 812.25 + (number % 50), latencyMs: 4123.5 + (number % 900), maxInterTokenMs: 410.75, increments: 140 + (number % 60),
    usage: { promptTokens: 812, completionTokens: 140, reasoningTokens: null, cachedTokens: 256, totalTokens: 952 },
    estimatedTokens: 1000, tags: { team: 'search', env: 'prod' }, recordGaps: [[0, 812], [812, 31], [990, 120], [1500, 410]],
    loopLagMs: 3, startedMs: performance.now() - 4000, endedMs: performance.now(), stallMs: 0, stallCount: 0,
  };
}
