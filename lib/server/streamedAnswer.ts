import { concatMap, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { FastifyReply } from 'fastify';
import type { ChatDelta } from '../model/delta.js';
import type { AssistantToolCall, ChatResponse } from '../model/response.js';
import type { StreamItem } from '../model/streamItem.js';
import type { AskedChat } from './chatBody.js';
import { createChunkEvents } from '../wire/chunkEvents.js';
import { openEventStream } from './eventStream.js';
import { factsOfChat } from './factHeaders.js';
import type { Facts } from './factHeaders.js';
import type { ChatDoor, Delivery } from './frontDoorOptions.js';
import { notesOf } from './requestNotes.js';
import { errorEvent, sendError } from './sendError.js';
import { whenGone } from './whenGone.js';

export interface StreamedAnswer {
  readonly chat: ChatDoor;
  readonly asked: AskedChat;
  readonly delivery: Delivery;
  readonly keepaliveMs: number;
  readonly slowClientMs: number;
}

/** Answers as an event stream; a client that leaves ends the call in the same turn. */
export function sendStreamed(reply: FastifyReply, { chat, asked, delivery, ...limits }: StreamedAnswer): void {
  const notes = notesOf(reply.request);
  const chunks = createChunkEvents({ wantsUsage: asked.wantsUsage });
  const stream = openEventStream({ reply, pull: chunks.take, ...limits });
  const item$ = delivery === 'commit' ? chat.stream$(asked.request, { held$: stream.held$ }) : heldBack(chat.chat$(asked.request));
  let hasStarted = false;
  // Not in the subscriber, where an answer too large to be written would end the process.
  const written$ = item$.pipe(tap({ next: chunks.add }));
  written$.pipe(takeUntil(whenGone(reply.raw))).subscribe({
    next: (item) => {
      hasStarted = true;
      Object.assign(notes, factsOf(item));
      stream.wake();
    },
    // No finish and no end marker: to a client a broken answer must not look like a whole one.
    error: (error: unknown) => (stream.hasBegun || hasStarted ? stream.end(errorEvent(reply.request, error)) : sendError(reply, error)),
    complete: () => stream.end(),
  });
}

function factsOf(item: StreamItem): Facts {
  if (item.type === 'end') return factsOfChat(item.response);
  if (item.type !== 'start') return {};
  const { callId, source, attempts, hedges } = item;
  return { callId, source, attempts, hedges };
}

/** A whole answer as the items of a stream, for who wants one but not before it is safe. */
function heldBack(response$: Observable<ChatResponse>): Observable<StreamItem> {
  return response$.pipe(
    concatMap((response): StreamItem[] => {
      const { callId, source, model, stats: { attempts, hedges } } = response;
      return [{ type: 'start', callId, source, model, attempts, hedges }, ...deltasOf(response), { type: 'end', response }];
    }),
  );
}

function deltasOf({ reasoning, content, refusal, message, logprobs }: ChatResponse): ChatDelta[] {
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...(content === '' ? [] : [{ type: 'content', text: content } as const]),
    ...(refusal === null ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...(message.tool_calls ?? []).map(toolCallOf),
    ...(message.reasoning_details === undefined ? [] : [{ type: 'message-extra', fields: { reasoning_details: message.reasoning_details } } as const]),
    ...(logprobs === undefined ? [] : [{ type: 'logprobs', logprobs: logprobs as Record<string, unknown> } as const]),
  ];
}

const toolCallFields: readonly string[] = ['id', 'type', 'function', 'custom'];

function toolCallOf(call: AssistantToolCall, index: number): ChatDelta {
  const { id } = call;
  const extra = Object.fromEntries(Object.entries(call).filter(([field]) => !toolCallFields.includes(field)));
  if (call.type === 'custom') return { type: 'tool-call', index, id, name: call.custom.name, arguments: call.custom.input, custom: true, extra };
  return { type: 'tool-call', index, id, name: call.function.name, arguments: call.function.arguments, extra };
}
