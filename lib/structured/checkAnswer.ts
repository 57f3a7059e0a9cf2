import { catchError, defer, from, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { AnswerProblem, InvalidAnswerReason } from '../model/errors.js';
import type { ChatResponse } from '../model/response.js';
import { answerProblems } from './answerProblems.js';
import { readJsonAnswer } from './readJson.js';
import type { OutputOf, StandardResult, StandardSchema } from './standardSchema.js';

/** What is made of an answer. One that is not `repairable` was never meant to be what the schema describes. */
export type CheckedAnswer<T> = { readonly type: 'fits'; readonly value: T } | UnfitAnswer;

export interface UnfitAnswer {
  readonly type: 'unfit';
  readonly reason: InvalidAnswerReason;
  readonly problems: readonly AnswerProblem[];
  readonly repairable: boolean;
  /** What the schema failed with, if it did. */
  readonly cause?: unknown;
}

/** In the same turn, unless the schema itself takes its time. What a schema throws is a fault of the answer: its transforms meet what they cannot read. */
export function checkAnswer<S extends StandardSchema>(schema: S, response: ChatResponse): Observable<CheckedAnswer<OutputOf<S>>> {
  return defer(() => {
    const reason = noAnswer(response);
    if (reason !== undefined) return of<UnfitAnswer>({ type: 'unfit', reason, problems: [], repairable: false });
    const read = readJsonAnswer(response.content);
    if (read.type === 'problem') return of<UnfitAnswer>({ type: 'unfit', reason: 'not_json', problems: [{ path: '', message: read.message }], repairable: true });
    return checked$(schema, read.value).pipe(map(resultOf), catchError((cause: unknown) => of(unchecked(cause))));
  });
}

function checked$<S extends StandardSchema>(schema: S, value: unknown): Observable<StandardResult<OutputOf<S>>> {
  return defer(() => {
    const checked = schema['~standard'].validate(value);
    return 'then' in checked ? from(checked) : of(checked);
  });
}

/** What was thrown may tell more than the model should know. */
function unchecked(cause: unknown): UnfitAnswer {
  return { type: 'unfit', reason: 'wrong_shape', problems: [{ path: '', message: 'its check failed' }], repairable: true, cause };
}

/** Why an answer is none, though it came whole. */
function noAnswer({ refusal, finishReason, toolCalls }: ChatResponse): InvalidAnswerReason | undefined {
  if (refusal !== null) return 'refusal';
  if (finishReason === 'length' || finishReason === 'content_filter') return finishReason;
  return toolCalls.length > 0 ? 'tool_calls' : undefined;
}

function resultOf<T>(result: StandardResult<T>): CheckedAnswer<T> {
  if (result.issues === undefined) return { type: 'fits', value: result.value };
  return { type: 'unfit', reason: 'wrong_shape', problems: answerProblems(result.issues), repairable: true };
}
