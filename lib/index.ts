export { createGateway } from './assemble.js';
export type { Gateway, GatewayOptions } from './assemble.js';
export { describeSettings } from './config/describeSettings.js';
export type { SettingRow } from './config/describeSettings.js';
export type { Env } from './config/envEntries.js';
export { settingsFromEnv } from './config/settingsFromEnv.js';
export type { Finding, GatewaySettings, SourceSettings } from './config/settings.js';
export type { CallOptions, GatewayStats } from './gateway/composeGateway.js';
export { AdmissionRefused } from './governance/gate.js';
export type { Gate, Outcome, Permit, Ticket } from './governance/gate.js';
export type { Governance } from './governance/memory.js';
export type { Parking } from './governance/parking.js';
export type { Progress } from './governance/progress.js';
export type { WaitingLine } from './governance/waitingLine.js';
export { isOutput } from './model/delta.js';
export type { ChatDelta, ProviderFacts, ToolCallDelta } from './model/delta.js';
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
export type { ErrorFacts, ExhaustedReason, FailureClass, LivenessLimit, PartialOutput } from './model/errors.js';
export type { AttemptRecord, GatewayEvent, HedgeTrigger, Role, RowClass } from './model/events.js';
export type { ChatRequest, ValidRequest } from './model/request.js';
export type { AssistantMessage, AssistantToolCall, CallStats, ChatResponse, ToolCall } from './model/response.js';
export type { Source, SourceLimits, StreamContext } from './model/source.js';
export type { Usage } from './model/usage.js';
export type { AttemptRow } from './telemetry/attemptRow.js';
export type { Sink } from './telemetry/sink.js';
