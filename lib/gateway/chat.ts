import { map, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { parseRequest } from '../model/request.js';
import type { ChatRequest, ValidRequest } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import { answerCall } from './call.js';
import type { Answered, CallEnds } from './call.js';
import { toCallStats } from './figures.js';
import type { Ports } from './ports.js';

/** A checked copy of the request, or the error that every subscription gets. */
function check(request: ChatRequest): { valid: ValidRequest } | { error: unknown } {
  try {
    return { valid: parseRequest(request) };
  } catch (error) {
    return { error };
  }
}

/** Cold: the request is checked and copied now, each subscription is a call of its own (X3). */
export function answerChat(request: ChatRequest, ends: CallEnds, ports: Ports): Observable<ChatResponse> {
  const checked = check(request);
  if ('error' in checked) return throwError(() => checked.error);
  return answerCall(checked.valid, ends, ports).pipe(map((answered) => toResponse(answered, ports)));
}

function toResponse({ call, winner }: Answered, { scheduler }: Ports): ChatResponse {
  const { answer, figures, source } = winner;
  const { model = call.request.model ?? source.model, providerRequestId = null, ...said } = answer;
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
    callMs: Math.trunc(scheduler.now() - call.enteredMs),
    stats: toCallStats(figures, {
      hedges: call.hedges,
      hedgeWon: winner.role === 'backup',
      attempts: call.attempts,
      waitedMs: Math.trunc(call.clock.stalledMs()),
    }),
  };
}
