import type { TimelineStep } from './timeline.js';

/** What all frames of one answer share. */
export interface AnswerIdentity {
  id: string;
  createdS: number;
  model: string;
}

/** The step as bytes of an OpenAI stream; empty for steps that are not frames. Holds which tool call is being written. */
export type FrameWriter = (step: TimelineStep) => string;

export function createFrameWriter({ id, createdS, model }: AnswerIdentity): FrameWriter {
  let toolIndex = -1;

  const chunk = (fields: object): string => {
    return dataFrame({ id, object: 'chat.completion.chunk', created: createdS, model, system_fingerprint: null, ...fields });
  };
  const delta = (fields: object, finishReason: string | null = null): string => {
    return chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finishReason }] });
  };
  const toolArguments = (text: string, name: string | undefined): string => {
    const begins = name !== undefined || toolIndex < 0;
    if (begins) toolIndex += 1;
    const head = begins ? { id: toolCallId(id, toolIndex), type: 'function' } : {};
    const call = begins ? { name: name ?? defaultToolName, arguments: text } : { arguments: text };
    return delta({ tool_calls: [{ index: toolIndex, ...head, function: call }] });
  };

  return (step) => {
    switch (step.type) {
      case 'open':
        return step.bare === true ? '' : delta(roleDelta);
      case 'content':
        return delta({ content: step.text });
      case 'reasoning':
        return delta({ reasoning_content: step.text });
      case 'tool-arguments':
        return toolArguments(step.text, step.name);
      case 'empty':
        if (step.kind === 'choices') return chunk({ choices: [] });
        return delta(step.kind === 'role' ? roleDelta : { content: '' });
      case 'comment':
        return ': keep-alive\n\n';
      case 'usage':
        return chunk({ choices: [], usage: usageBody(step) });
      case 'finish':
        return delta({}, step.reason);
      case 'done':
        return 'data: [DONE]\n\n';
      case 'broken':
        return `data: ${step.text}\n\n`;
      case 'error':
        return dataFrame(errorBody(step));
      case 'http-error':
      case 'eof':
      case 'reset':
      case 'hang':
        return '';
      default:
        return step satisfies never;
    }
  };
}

export const defaultToolName = 'tool';

export function toolCallId(answerId: string, index: number): string {
  return `call_${answerId}_${index}`;
}

export function usageBody({ promptTokens, completionTokens }: { promptTokens: number; completionTokens: number }): object {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens };
}

/** OpenAI's error object. The status decides the type, and the code where the script gives none. */
export function errorBody({ code, message, status = 500 }: { code?: string; message?: string; status?: number }): object {
  const { type, code: usualCode } = usualError(status);
  return { error: { message: message ?? `simulated failure ${code ?? status}`, type, param: null, code: code ?? usualCode } };
}

function usualError(status: number): { type: string; code: string | null } {
  if (status === 429) return { type: 'requests', code: 'rate_limit_exceeded' };
  return { type: status >= 500 ? 'server_error' : 'invalid_request_error', code: null };
}

const roleDelta = { role: 'assistant', content: '', refusal: null };

function dataFrame(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}
