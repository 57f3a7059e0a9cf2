import type { Observable } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import { createFold } from '../model/fold.js';
import type { Answer, AnswerFold } from '../model/fold.js';
import type { Sign } from '../model/reply.js';
import type { ValidRequest } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import type { Source, StreamContext } from '../model/source.js';
import type { StreamEnd } from '../model/streamItem.js';
import { estimateChatTokens } from '../governance/quota/estimateTokens.js';
import type { Answered } from './call.js';
import type { Asked } from './call.js';
import { toCallStats } from './figures.js';
import { find, once } from './task.js';
import type { Exchange, Task } from './task.js';

/** A chat call: deltas are folded to one answer. */
export function openChat(request: ValidRequest, sources: readonly Source[]): Asked<Answer, ChatResponse> {
  return { task: { ...facts(request), open: (source, callId) => new FoldedExchange(request, find(sources, source), callId) }, respond: toResponse };
}

/** The same, passed on as it comes; `held$` says when its reader can take no more. */
export function openStream(request: ValidRequest, sources: readonly Source[], held$?: Observable<boolean>): Asked<Answer, StreamEnd> {
  return {
    task: { ...facts(request), held$, open: (source, callId) => new PassedExchange(request, find(sources, source), callId) },
    respond: (answered) => ({ type: 'end', response: toResponse(answered) }),
  };
}

function facts(request: ValidRequest): Omit<Task<Answer>, 'open'> {
  return {
    operation: 'chat',
    streamed: request.stream,
    model: request.model ?? null,
    tags: request.tags ?? null,
    estimate: once(() => estimateChatTokens(request)),
  };
}

/** A class, since one is held for each stream. */
class FoldedExchange implements Exchange<Answer, ChatDelta> {
  readonly reply: AnswerFold;
  private readonly request: ValidRequest;
  private readonly source: Source;

  constructor(request: ValidRequest, source: Source, callId: string) {
    this.reply = createFold(callId);
    this.request = request;
    this.source = source;
  }

  part$(context: StreamContext): Observable<ChatDelta> {
    return this.source.stream(this.request, context);
  }

  read(delta: ChatDelta): Sign {
    return this.reply.add(delta);
  }
}

class PassedExchange extends FoldedExchange {
  said(delta: ChatDelta): ChatDelta {
    return delta;
  }
}

function toResponse({ call, winner, callMs }: Answered<Answer>): ChatResponse {
  const { answer, figures, source } = winner;
  return {
    content: answer.content,
    reasoning: answer.reasoning,
    refusal: answer.refusal,
    toolCalls: answer.toolCalls,
    message: answer.message,
    finishReason: answer.finishReason,
    usage: answer.usage,
    callId: call.id,
    model: answer.model ?? call.task.model ?? source.model,
    source: source.id,
    providerRequestId: answer.providerRequestId ?? null,
    increments: winner.increments,
    ttftMs: figures.ttftMs,
    maxInterTokenMs: figures.maxInterTokenMs,
    latencyMs: figures.wallMs,
    callMs,
    ...(answer.logprobs === undefined ? {} : { logprobs: answer.logprobs }),
    stats: toCallStats(figures, {
      hedges: call.hedges,
      hedgeWon: winner.role === 'backup',
      attempts: call.attempts,
      waitedMs: Math.trunc(call.clock.stalledMs()),
    }),
  };
}
