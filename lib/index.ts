export { createGateway } from './assemble.js';
export type { Gateway, GatewayOptions } from './assemble.js';
export { describeSettings } from './config/describeSettings.js';
export { settingsFromEnv } from './config/settingsFromEnv.js';
export type { Finding, GatewaySettings, SourceSettings } from './config/settings.js';
export type { CallOptions, GatewayStats } from './gateway/composeGateway.js';
export { isOutput } from './model/delta.js';
export type { ChatDelta } from './model/delta.js';
export {
  AllSourcesExhausted,
  CallDeadlineExceeded,
  ConfigError,
  GatewayClosedError,
  GatewayError,
  GatewayUnavailableError,
  GovernanceBackendError,
  RateLimitedError,
  RequestError,
  SourceError,
  StreamLivenessTimeout,
  TransientError,
} from './model/errors.js';
export type { FailureClass } from './model/errors.js';
export type { AttemptRecord, GatewayEvent } from './model/events.js';
export type { ChatRequest } from './model/request.js';
export type { AssistantMessage, CallStats, ChatResponse, ToolCall } from './model/response.js';
export type { Source, SourceLimits, StreamContext } from './model/source.js';
export type { Usage } from './model/usage.js';
export type { AttemptRow } from './telemetry/attemptRow.js';
export type { Sink } from './telemetry/sink.js';
