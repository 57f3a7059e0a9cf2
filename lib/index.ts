export { toAsyncIterable } from './adapters/toAsyncIterable.js';
export type { Held, ReaderOptions } from './adapters/toAsyncIterable.js';
export { toReadableStream } from './adapters/toReadableStream.js';
export { createEmbedding } from './assemble/createEmbedding.js';
export type { Embedding, EmbeddingOptions } from './assemble/createEmbedding.js';
export { createGateway } from './assemble/createGateway.js';
export type { Gateway, GatewayOptions } from './assemble/createGateway.js';
export { createOcr } from './assemble/createOcr.js';
export type { Ocr, OcrOptions } from './assemble/createOcr.js';
export type { RunningScope, ScopeOptions } from './assemble/scope.js';
export { describeSettings } from './config/describeSettings.js';
export type { SettingRow } from './config/describeSettings.js';
export type { Env } from './config/envEntries.js';
export { settingsFromEnv } from './config/settingsFromEnv.js';
export type { Finding, GatewaySettings, SourceSettings } from './config/settings.js';
export type { CallOptions, GatewayStats, Scope, StreamOptions } from './gateway/calls.js';
export type { ChatStream } from './gateway/composeGateway.js';
export type { OpenStream } from './gateway/ports.js';
export type { EmbeddingEngine } from './gateway/composeEmbedding.js';
export type { OcrEngine } from './gateway/composeOcr.js';
export { AdmissionRefused } from './governance/gate.js';
export type { BreakerPolicy } from './governance/breaker/breaker.js';
export type { Gate, Outcome, Permit, RefusalFacts, Ticket } from './governance/gate.js';
export type { Governance, GovernanceScope } from './governance/governance.js';
export type { Parking } from './governance/parking.js';
export type { Progress } from './governance/progress.js';
export type { Turn, WaitingLine } from './governance/waitingLine.js';
export { isCallError, isChatError } from './model/callError.js';
export type { CallError, ChatError, EmbeddingError, OcrError, ReadError, StreamError } from './model/callError.js';
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
  InvalidAnswerError,
  RateLimitedError,
  RequestError,
  SlowReaderError,
  SourceError,
  StreamInterrupted,
  StreamLivenessTimeout,
  TransientError,
} from './model/errors.js';
export type { AnswerProblem, AttemptError, ErrorFacts, ExhaustedReason, FailureClass, InvalidAnswerReason, LivenessLimit, PartialOutput } from './model/errors.js';
export type { AttemptRecord, BreakerPhase, GatewayEvent, GatewayEventBody, HedgeTrigger, OfAttempt, Operation, RefusingGate, Report, Role, RowClass } from './model/events.js';
export type { BatchStats, EmbeddingAnswer, EmbeddingInput, EmbeddingRequest, EmbeddingResponse, ValidEmbeddingRequest } from './model/embedding.js';
export type { OcrAnswer, OcrDocument, OcrPage, OcrRequest, OcrResponse, ValidOcrRequest } from './model/ocr.js';
export type { ChatMessage, ChatParameters, ChatRequest, ChatTool, ContentPart, FunctionTool, JsonSchemaFormat, LooseChatRequest, MessageToolCall, ResponseFormat, TextPart, ToolChoice, ToolMessage, ValidRequest } from './model/request.js';
export type { AssistantMessage, AssistantToolCall, CallStats, ChatResponse, ToolCall } from './model/response.js';
export type { EmbeddingSource, OcrSource, Source, SourceLimits, StreamContext, Upstream } from './model/source.js';
export type { StreamEnd, StreamItem, StreamPiece, StreamStart } from './model/streamItem.js';
export type { TraceCarrier } from './model/tracing.js';
export type { Usage } from './model/usage.js';
export { defineTool } from './structured/defineTool.js';
export type { Tool, ToolFields, ToolOptions } from './structured/defineTool.js';
export { parse } from './structured/parse.js';
export type { ParseOptions, Parsed } from './structured/parse.js';
export { responseFormat } from './structured/responseFormat.js';
export type { FormatOptions } from './structured/responseFormat.js';
export type { OutputOf, StandardIssue, StandardJsonSchema, StandardProps, StandardResult, StandardSchema } from './structured/standardSchema.js';
export { toolCallsOf } from './structured/toolCallsOf.js';
export type { InvalidToolCall, ToolCallOf, ValidToolCall } from './structured/toolCallsOf.js';
export { toolMessage } from './structured/toolMessage.js';
export type { AttemptRow } from './telemetry/attemptRow.js';
export type { Sink } from './telemetry/sink.js';
export { toChatCompletion } from './wire/chatCompletion.js';
export type { ChatCompletion, ChatCompletionChoice, CompletionMessage, FinishReason, TokenLogprob, TokenLogprobs } from './wire/chatCompletion.js';
export type { ChatCompletionChunk, ChunkChoice, ChunkDelta, ChunkHead } from './wire/chatChunks.js';
export { toChatCompletionChunks } from './wire/toChatCompletionChunks.js';
export type { ChunkOptions } from './wire/toChatCompletionChunks.js';
export type { ToolCallChunk } from './wire/toolCallChunks.js';
export type { CompletionUsage } from './wire/usageBody.js';
