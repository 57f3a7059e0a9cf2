import { map } from 'rxjs';
import { createFold } from '../model/fold.js';
import type { Answer } from '../model/fold.js';
import type { ValidRequest } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import type { Source } from '../model/source.js';
import { estimateChatTokens } from '../governance/quota/estimateTokens.js';
import type { Answered } from './call.js';
import type { Asked } from './calls.js';
import { toCallStats } from './figures.js';
import { find, once } from './task.js';

/** A chat call: deltas are folded to one answer. */
export function openChat(request: ValidRequest, sources: readonly Source[]): Asked<Answer, ChatResponse> {
  return {
    task: {
      operation: 'chat',
      streamed: request.stream,
      model: request.model ?? null,
      tags: request.tags ?? null,
      estimate: once(() => estimateChatTokens(request)),
      open(source, attemptId) {
        const fold = createFold(attemptId);
        return { sign$: (context) => find(sources, source).stream(request, context).pipe(map(fold.add)), reply: fold };
      },
    },
    respond: toResponse,
  };
}

function toResponse({ call, winner, callMs }: Answered<Answer>): ChatResponse {
  const { answer, figures, source } = winner;
  const { model = call.task.model ?? source.model, providerRequestId = null, ...said } = answer;
  return {
    ...said,
    callId: call.id,
    model,
    source: source.id,
    providerRequestId,
    increments: winner.increments,
    ttftMs: figures.ttftMs,
    maxInterTokenMs: figures.maxInterTokenMs,
    latencyMs: figures.wallMs,
    callMs,
    stats: toCallStats(figures, {
      hedges: call.hedges,
      hedgeWon: winner.role === 'backup',
      attempts: call.attempts,
      waitedMs: Math.trunc(call.clock.stalledMs()),
    }),
  };
}
