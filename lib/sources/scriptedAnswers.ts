import { asyncScheduler, defer, of, throwError } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { EmbeddingAnswer, ValidEmbeddingRequest } from '../model/embedding.js';
import type { OcrAnswer, ValidOcrRequest } from '../model/ocr.js';
import type { EmbeddingSource, OcrSource } from '../model/source.js';
import { playScripts, scriptedUpstream } from './playScripts.js';
import type { Player, ScriptedRequest, ScriptedUpstream } from './playScripts.js';

/** The one thing that comes of a request for an answer in one piece, `atMs` after it arrived. */
export type AnswerStep<R, A> = { readonly atMs: number } & (
  | { readonly type: 'answer'; readonly answer: A | ((request: R) => A) }
  | { readonly type: 'error'; readonly error: unknown }
);

export interface ScriptedAnswersOptions<R, A> extends ScriptedUpstream {
  /** Each request gets the next; the last one repeats. `hang` never answers. */
  readonly answers: readonly (AnswerStep<R, A> | 'hang')[];
}

export interface ScriptedEmbeddingSource extends EmbeddingSource {
  readonly requests: readonly ScriptedRequest[];
}

export interface ScriptedEmbeddingOptions extends ScriptedAnswersOptions<ValidEmbeddingRequest, EmbeddingAnswer> {
  readonly maxBatch?: number;
}

export interface ScriptedOcrSource extends OcrSource {
  readonly requests: readonly ScriptedRequest[];
}

/** A source of embeddings that answers by a timeline on a scheduler. */
export function scriptedEmbeddingSource({ answers, scheduler, maxBatch, ...facts }: ScriptedEmbeddingOptions): ScriptedEmbeddingSource {
  const player = playAnswers(answers, scheduler);
  return { ...scriptedUpstream(facts), ...(maxBatch === undefined ? {} : { maxBatch }), requests: player.requests, embed: player.play };
}

/** A source that reads documents by a timeline on a scheduler. */
export function scriptedOcrSource({ answers, scheduler, ...facts }: ScriptedAnswersOptions<ValidOcrRequest, OcrAnswer>): ScriptedOcrSource {
  const player = playAnswers(answers, scheduler);
  return { ...scriptedUpstream(facts), requests: player.requests, recognize: player.play };
}

function playAnswers<R, A>(answers: ScriptedAnswersOptions<R, A>['answers'], scheduler: SchedulerLike = asyncScheduler): Player<R, A> {
  const scripts = answers.map((step) => (step === 'hang' ? [] : [step]));
  return playScripts({ scripts, perform, isLast: () => true, scheduler });
}

function perform<R, A>(step: AnswerStep<R, A>, request: R): Observable<A> {
  if (step.type === 'error') return throwError(() => step.error);
  const { answer } = step;
  return typeof answer === 'function' ? defer(() => of((answer as (request: R) => A)(request))) : of(answer);
}
