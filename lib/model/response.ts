import type { Usage } from './usage.js';

/** A call of a tool that the model asks for; `toolCallsOf` reads its arguments. */
export interface ToolCall {
  id: string;
  name: string;
  /** As the provider sent them: commonly JSON; of a custom tool its input, which is free text. */
  arguments: string;
  /** A call of a custom tool; absent: of a function. */
  custom?: true;
}

/**
 * OpenAI-shaped, ready to be appended to `messages`. Beside tool calls it keeps `reasoning_content` and
 * `reasoning_details` as the provider sent them, since some refuse the next turn without; else they are left out. Fields
 * of a call that this library does not know are kept too.
 */
export interface AssistantMessage {
  role: 'assistant';
  content: string | null;
  refusal?: string;
  reasoning_content?: string;
  reasoning_details?: unknown[];
  tool_calls?: AssistantToolCall[];
  [field: string]: unknown;
}

/** A tool call as it stands in a message. */
export type AssistantToolCall = { id: string; [extra: string]: unknown } & (
  | { type: 'function'; function: { name: string; arguments: string } }
  | { type: 'custom'; custom: { name: string; input: string } }
);

/** The whole answer of a call. A figure that could not be measured is `null`, never 0. */
export interface ChatResponse {
  content: string;
  reasoning: string;
  refusal: string | null;
  toolCalls: ToolCall[];
  message: AssistantMessage;
  finishReason: string;
  usage: Usage | null;
  callId: string;
  model: string;
  source: string;
  providerRequestId: string | null;
  /** Frames that brought output; a chunk is not a token (O3). `null` for a request that was not streamed. */
  increments: number | null;
  /** As the provider sent them; absent: it did not. */
  logprobs?: unknown;
  /** Winning attempt: first increment − start. */
  ttftMs: number | null;
  /** Winning attempt: the longest wait between two chunks (historic name; a chunk is not a token). */
  maxInterTokenMs: number | null;
  /** Winning attempt: its wall time. */
  latencyMs: number;
  /** The whole call, waits and failed rounds included. */
  callMs: number;
  stats: CallStats;
}

/** Figures of a call; those of time are the winning attempt's alone (M5). */
export interface CallStats {
  /**
   * Net time of the winning attempt: wall time minus its silences over `stallThresholdMs`. It still holds the wait for
   * the first increment and the tail after the last (M4). Our own definition: not comparable with end-to-end or
   * inter-token latency of benchmarks; unlike pi-tps the tail counts as active, on purpose.
   */
  generationMs: number;
  /** Sum of the silences over the threshold; `null` when it cannot be measured: branch on that (M2, M8). */
  stallMs: number | null;
  /** Number of those silences; `null` when it cannot be measured. */
  stallCount: number | null;
  /** Backups started over the whole call. */
  hedges: number;
  /** The winner was a backup. */
  hedgeWon: boolean;
  /** Requests sent. */
  attempts: number;
  /** Time without any attempt in flight (B2). */
  waitedMs: number;
}
