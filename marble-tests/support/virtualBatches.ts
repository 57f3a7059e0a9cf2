import { NEVER, Subject, defer, finalize, mergeMap, of, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { composeEmbedding } from '../../lib/gateway/composeEmbedding.js';
import type { EmbeddingEngine } from '../../lib/gateway/composeEmbedding.js';
import { composeOcr } from '../../lib/gateway/composeOcr.js';
import type { OcrEngine } from '../../lib/gateway/composeOcr.js';
import type { Policy, Ports } from '../../lib/gateway/ports.js';
import { createMemoryGovernance } from '../../lib/governance/memory.js';
import type { ProgressNotes } from '../../lib/governance/progress.js';
import { byPriority } from '../../lib/governance/selection/rank.js';
import type { EmbeddingAnswer } from '../../lib/model/embedding.js';
import { RateLimitedError, RequestError, SourceError, TransientError } from '../../lib/model/errors.js';
import type { AttemptRecord, GatewayEvent, GatewayEventBody } from '../../lib/model/events.js';
import type { OcrAnswer } from '../../lib/model/ocr.js';
import type { EmbeddingSource, OcrSource, Upstream } from '../../lib/model/source.js';
import { calm, patientBreaker } from './virtualGateway.js';
import type { GovernorSpec } from './virtualGateway.js';

/** What a source does with one request: `ok`, `hang`, or the class of a failure, after so many seconds. */
export type Turn = readonly [what: 'ok' | 'hang' | 'transient' | 'limited' | 'source' | 'request', afterS: number, more?: { readonly retryAfterS?: number; readonly length?: number }];

export interface BatchSpec extends Partial<Omit<Upstream, 'id'>> {
  /** One per request; the last one repeats. */
  readonly turns: readonly Turn[];
  readonly maxBatch?: number;
}

export interface SeenRequest {
  readonly source: string;
  readonly startedMs: number;
  closedMs: number | null;
  readonly inputs: number;
}

/** A scope in virtual time for embeddings or OCR; both see the same turns. */
export interface VirtualBatches {
  readonly embedding: EmbeddingEngine;
  readonly ocr: OcrEngine;
  readonly requests: SeenRequest[];
  readonly rows: AttemptRecord[];
  readonly events: GatewayEvent[];
  readonly progress: ProgressNotes;
}

const failures = { transient: TransientError, limited: RateLimitedError, source: SourceError, request: RequestError } as const;

export function virtualBatches(specs: readonly BatchSpec[], scheduler: SchedulerLike, { breaker, hedgeMaxRatio, ...policy }: Partial<Policy> & GovernorSpec = {}): VirtualBatches {
  const now = (): number => scheduler.now();
  const requests: SeenRequest[] = [];
  const rows: AttemptRecord[] = [];
  const events: GatewayEvent[] = [];
  const bus = new Subject<GatewayEvent>();
  const report = (body: GatewayEventBody): void => {
    const event: GatewayEvent = { ...body, atMs: now() };
    events.push(event);
    if (event.type === 'round-decided') rows.push(...event.records);
    bus.next(event);
  };

  const played = <A>(id: string, turns: readonly Turn[], inputs: number, answer: (turn: Turn) => A): Observable<A> =>
    defer(() => {
      const turn = turns[Math.min(requests.filter(({ source }) => source === id).length, turns.length - 1)] ?? (['hang', 0] as const);
      const request: SeenRequest = { source: id, startedMs: now(), closedMs: null, inputs };
      requests.push(request);
      const [what, afterS, { retryAfterS } = {}] = turn;
      const end = (): Observable<A> => {
        if (what === 'hang') return NEVER;
        if (what === 'ok') return of(answer(turn));
        return throwError(() => new failures[what]('it broke', retryAfterS === undefined ? {} : { retryAfterS }));
      };
      return timer(afterS * 1000, scheduler).pipe(mergeMap(end), finalize(() => { request.closedMs = now(); }));
    });

  const usage = { promptTokens: 10, completionTokens: null, totalTokens: 10, reasoningTokens: null, cachedTokens: null };
  const sources = specs.map(({ turns, ...facts }, at): EmbeddingSource & OcrSource => {
    const id = `${String.fromCharCode(97 + at)}/1`;
    return {
      id,
      provider: id.slice(0, 1),
      model: 'm',
      limits: { timeoutMs: 300_000 },
      ...facts,
      embed: ({ input }) =>
        played<EmbeddingAnswer>(id, turns, input.length, ([, , { length = 2 } = {}]) => ({
          vectors: input.map((text) => Float32Array.from({ length }, (_, place) => (place === 0 ? Number(text) : 0))),
          usage,
        })),
      recognize: () => played<OcrAnswer>(id, turns, 1, () => ({ pages: [{ index: 0, markdown: 'text' }], usage: null })),
    };
  });
  const governance = createMemoryGovernance({ sources, breaker: { ...patientBreaker, ...breaker }, hedgeMaxRatio, now, random: () => 1, report });
  const ports: Ports<EmbeddingSource & OcrSource> = {
    policy: { ...calm, scope: 'EMBEDDING', onlyTransientBurns: false, ...policy },
    sources,
    scheduler,
    governance,
    strategy: byPriority,
    report,
    events$: bus,
  };
  return { embedding: composeEmbedding(ports), ocr: composeOcr(ports), requests, rows, events, progress: governance.progress };
}

