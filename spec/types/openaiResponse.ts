import type OpenAI from 'openai';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { toChatCompletion, toChatCompletionChunks } from '../../lib/index.js';
import type { ChatCompletionChunk, ChatResponse, Gateway } from '../../lib/index.js';

/** What is made of an answer is what code for the `openai` package takes. */
export const completionOf = (response: ChatResponse): OpenAI.ChatCompletion => toChatCompletion(response);
export const messageOf = (response: ChatResponse): OpenAI.ChatCompletionMessage | undefined => toChatCompletion(response).choices[0]?.message;
export const chunkOf = (chunk: ChatCompletionChunk): OpenAI.ChatCompletionChunk => chunk;

export const chunksOf = (gateway: Gateway, request: OpenAI.ChatCompletionCreateParams): Observable<OpenAI.ChatCompletionChunk> =>
  gateway.stream$(request).pipe(toChatCompletionChunks({ includeUsage: true }));

export const textsOf = (gateway: Gateway, messages: OpenAI.ChatCompletionMessageParam[]): Observable<string> =>
  gateway.stream$({ messages }).pipe(
    toChatCompletionChunks(),
    map(({ choices }) => choices[0]?.delta.content ?? ''),
  );
