import type { AssistantToolCall, ChatResponse } from '../model/response.js';
import { usageBody, wholeUsageBody } from './usageBody.js';
import type { CompletionUsage } from './usageBody.js';

/** OpenAI's `chat.completion`, assignable to the `openai` package's type of it. */
export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  /** In seconds since 1970. */
  created: number;
  model: string;
  choices: ChatCompletionChoice[];
  /** Absent unless the numbers of all three are known. */
  usage?: CompletionUsage;
}

/** The answer of a `ChatCompletion`. */
export interface ChatCompletionChoice {
  index: number;
  message: CompletionMessage;
  /** As the provider sent them; `null` where it sent none. */
  logprobs: TokenLogprobs | null;
  finish_reason: FinishReason;
}

/** The message of a `ChatCompletion`, ready to be appended to `messages`. */
export interface CompletionMessage {
  role: 'assistant';
  /** `null` beside tool calls or a refusal. */
  content: string | null;
  /** `null` unless the model refused. */
  refusal: string | null;
  /** Absent where the model told no reasoning. */
  reasoning_content?: string;
  /** Absent where nothing is to be called. */
  tool_calls?: AssistantToolCall[];
  [field: string]: unknown;
}

/** OpenAI's words. A provider's own word stands where it has none for it, and `unknown` where there was none, though its type does not say so. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

/** The probabilities of the tokens of an answer; `null` for a part that it does not have. */
export interface TokenLogprobs {
  content: TokenLogprob[] | null;
  refusal: TokenLogprob[] | null;
}

/** How probable a token was, as a natural logarithm. */
export interface TokenLogprob {
  token: string;
  /** `null` where a token is no text of its own. */
  bytes: number[] | null;
  logprob: number;
  top_logprobs: { token: string; bytes: number[] | null; logprob: number }[];
}

/**
 * A whole answer as OpenAI's `chat.completion`, for code that is written for the `openai` package. A finish reason that is
 * not known is told as that, never as a `stop`; token counts are left out where one of them is not known.
 *
 *     const { choices: [choice] } = toChatCompletion(await gateway.chat(request));
 */
export function toChatCompletion(response: ChatResponse): ChatCompletion {
  return { ...withoutUsage(response), ...wholeUsageBody(response.usage) };
}

/** The body that the front door answers with: the same, with those of the token counts that are known. */
export function chatCompletion(response: ChatResponse): object {
  const { usage } = response;
  return { ...withoutUsage(response), ...(usage === null ? {} : { usage: usageBody(usage) }) };
}

function withoutUsage(response: ChatResponse): Omit<ChatCompletion, 'usage'> {
  const { callId, model, logprobs = null, finishReason } = response;
  return {
    id: completionId(callId),
    object: 'chat.completion',
    created: createdS(),
    model,
    choices: [{ index: 0, message: messageOf(response), logprobs: logprobs as TokenLogprobs | null, finish_reason: finishReason as FinishReason }],
  };
}

function messageOf({ message, refusal, reasoning }: ChatResponse): CompletionMessage {
  return { ...(reasoning === '' ? {} : { reasoning_content: reasoning }), ...message, refusal };
}

export function completionId(callId: string): string {
  return `chatcmpl-${callId}`;
}

/** A date for people, in whole seconds since 1970; the clock of the calls knows no dates. */
export function createdS(): number {
  // eslint-disable-next-line no-restricted-syntax
  return Math.trunc(Date.now() / 1000);
}
