/**
 * Attributes of OpenTelemetry's conventions for generative AI, as they stood in late 2026. Kept here since the package of
 * constants has them as experimental ones only, and is large.
 */
export const genAi = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
} as const;

/** Attributes of OpenTelemetry's general conventions. */
export const general = {
  errorType: 'error.type',
  httpStatus: 'http.response.status_code',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;

/** Our own attributes. */
export const own = {
  scope: 'polygateway.scope',
  callId: 'polygateway.call_id',
  attemptId: 'polygateway.attempt_id',
  source: 'polygateway.source',
  requestId: 'polygateway.provider_request_id',
  round: 'polygateway.round',
  role: 'polygateway.role',
  trigger: 'polygateway.hedge.trigger',
  hedgeOutcome: 'polygateway.hedge.outcome',
  hedgeWon: 'polygateway.hedge.won',
  hedges: 'polygateway.hedges',
  attempts: 'polygateway.attempts',
  won: 'polygateway.won',
  outcome: 'polygateway.outcome',
  cancelled: 'polygateway.cancelled',
  unsent: 'polygateway.unsent',
  waitedMs: 'polygateway.waited_ms',
  stallMs: 'polygateway.stall_ms',
  stallCount: 'polygateway.stall_count',
  maxGapMs: 'polygateway.max_inter_token_ms',
  increments: 'polygateway.increments',
  loopLagMs: 'polygateway.loop_lag_ms',
  silentMs: 'polygateway.silent_ms',
  gate: 'polygateway.gate',
  reason: 'polygateway.reason',
  delayMs: 'polygateway.delay_ms',
  failureClass: 'polygateway.failure_class',
} as const;

/** Events on spans. */
export const spanEvents = {
  silence: 'polygateway.silence',
  hedgeRefused: 'polygateway.hedge_refused',
  waiting: 'polygateway.waiting',
  retry: 'polygateway.retry',
} as const;

/** Instruments; the first four are of the conventions. */
export const metricNames = {
  duration: 'gen_ai.client.operation.duration',
  timeToFirstChunk: 'gen_ai.client.operation.time_to_first_chunk',
  timePerOutputChunk: 'gen_ai.client.operation.time_per_output_chunk',
  tokenUsage: 'gen_ai.client.token.usage',
  stall: 'polygateway.stall.duration',
  attempts: 'polygateway.attempts',
  openStreams: 'polygateway.streams.open',
  hedges: 'polygateway.hedges',
  hedgesRefused: 'polygateway.hedges.refused',
  callWait: 'polygateway.call.wait',
  callDuration: 'polygateway.call.duration',
} as const;

const providerNames: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
};

/** The conventions' word for a provider of the settings; one that they do not know keeps its own. */
export function providerName(provider: string): string {
  const name = provider.toLowerCase();
  return providerNames[name] ?? name;
}
