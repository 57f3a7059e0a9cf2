import type OpenAI from 'openai';
import type { ChatMessage, ChatRequest, ChatResponse, Gateway } from '../../lib/index.js';

declare const gateway: Gateway;
declare const openai: OpenAI;
declare const response: ChatResponse;

/** What is written for the `openai` package can be asked here, without a cast. */
export function askAsOpenAI(
  params: OpenAI.ChatCompletionCreateParams,
  streaming: OpenAI.ChatCompletionCreateParamsStreaming,
  whole: OpenAI.ChatCompletionCreateParamsNonStreaming,
): void {
  void gateway.chat$(params);
  void gateway.chat(streaming);
  void gateway.stream$(whole);
  void gateway.stream(params);
}

export function askWithParts(messages: OpenAI.ChatCompletionMessageParam[], tools: OpenAI.ChatCompletionTool[], tool_choice: OpenAI.ChatCompletionToolChoiceOption): void {
  const request: ChatRequest = { messages, tools, tool_choice };
  void gateway.chat$(request);
  void gateway.chat$({ messages, tools, tool_choice, response_format: { type: 'json_object' }, reasoning_effort: 'low' });
}

/** The params are a `ChatRequest` too, not only of the looser form. */
export const requestOf = (params: OpenAI.ChatCompletionCreateParams): ChatRequest => params;
export const formatOf = (format: NonNullable<OpenAI.ChatCompletionCreateParams['response_format']>): NonNullable<ChatRequest['response_format']> => format;

/** What is written for this library can be asked with the `openai` package, once it has a model. */
export function askOpenAI(request: ChatRequest): Promise<unknown>[] {
  const { tags: _ours, ...body } = request;
  return [
    openai.chat.completions.create({ ...body, messages: request.messages, model: 'm' }),
    openai.chat.completions.create({ ...request, model: 'm', stream: true }),
    openai.chat.completions.create({ ...request, model: 'm', stream: false }),
  ];
}

export const paramsOf = (request: ChatRequest & { model: string }): Promise<unknown> => openai.chat.completions.create(request);
export const messageFor = (message: ChatMessage): OpenAI.ChatCompletionMessageParam => message;

/** An answer goes on in the messages of both. */
export function goOn(theirs: OpenAI.ChatCompletionMessageParam[], ours: ChatRequest['messages']): void {
  theirs.push(response.message);
  ours.push(response.message);
  void gateway.chat$({ messages: [...theirs, response.message, { role: 'user', content: 'and then?' }] });
}

export const callsOf = (): OpenAI.ChatCompletionMessageToolCall[] => response.message.tool_calls ?? [];
export const answerTo = (completion: OpenAI.ChatCompletion): ChatMessage[] => completion.choices.map(({ message }) => message);
