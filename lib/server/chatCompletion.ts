import type { ChatResponse } from '../model/response.js';
import { usageBody } from './usageBody.js';

/** A whole answer as OpenAI's `chat.completion`. A finish reason that is not known is told as that, never as a `stop`. */
export function chatCompletion(response: ChatResponse): object {
  const { callId, model, logprobs = null, finishReason, usage } = response;
  return {
    id: completionId(callId),
    object: 'chat.completion',
    created: createdS(),
    model,
    choices: [{ index: 0, message: messageOf(response), logprobs, finish_reason: finishReason }],
    ...(usage === null ? {} : { usage: usageBody(usage) }),
  };
}

function messageOf({ message, refusal, reasoning }: ChatResponse): object {
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
