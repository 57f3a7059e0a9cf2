import { estimateTokenCount } from 'tokenx';

/** An answer whose length the request does not bound is thought to take this many tokens. */
const unboundedAnswerTokens = 1024;
/** What an image commonly costs; sizes vary by provider and detail. */
const imageTokens = 765;
/** What a document is thought to use: its pages are not known before. */
export const documentTokens = 2048;
/** Role and separators of one message. */
const messageTokens = 4;
/** Of a longer text only samples are counted, since counting takes about 0.4 µs a character. */
const sampledChars = 32_768;
const samples = 8;

interface Chat {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly tools?: unknown;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
}

/** What a chat request is thought to use: its prompt, and the whole of the answer that it allows. */
export function estimateChatTokens({ messages, tools, max_tokens: maxTokens, max_completion_tokens: maxCompletionTokens }: Chat): number {
  const prompt = messages.reduce((sum, message) => sum + messageTokens + messageParts(message), 0);
  const offered = tools === undefined || tools === null ? 0 : estimateTextTokens(JSON.stringify(tools));
  return prompt + offered + (maxCompletionTokens ?? maxTokens ?? unboundedAnswerTokens);
}

/** What a text is thought to count, in about the tokens of the common vocabularies. */
export function estimateTextTokens(text: string): number {
  if (text.length <= sampledChars) return estimateTokenCount(text);
  const size = sampledChars / samples;
  const stride = (text.length - size) / (samples - 1);
  const sample = Array.from({ length: samples }, (_, at) => text.slice(at * stride, at * stride + size)).join('\n');
  return Math.ceil((estimateTokenCount(sample) / sampledChars) * text.length);
}

function messageParts({ content, ...rest }: Readonly<Record<string, unknown>>): number {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const beside = rest['tool_calls'] === undefined ? 0 : estimateTextTokens(JSON.stringify(rest['tool_calls']));
  return parts.reduce<number>((sum, part) => sum + partTokens(part), beside);
}

function partTokens(part: unknown): number {
  if (typeof part === 'string') return estimateTextTokens(part);
  if (typeof part !== 'object' || part === null) return 0;
  if ('text' in part && typeof part.text === 'string') return estimateTextTokens(part.text);
  // Images, sound and files: their bytes are no text.
  return imageTokens;
}
