import { concatMap, of, take, throwError, throwIfEmpty } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { ConfigError } from '../model/errors.js';
import type { InvalidAnswerError } from '../model/errors.js';
import type { ChatMessage } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import { checkAnswer } from './checkAnswer.js';
import { invalidAnswer, repairTurns } from './invalidAnswer.js';
import type { OutputOf, StandardSchema } from './standardSchema.js';

/** What becomes of an answer that does not fit. */
export interface ParseOptions {
  /** Most times that a bad answer is sent back; default 1. */
  readonly repairs?: number;
  /**
   * Asks again with these messages after those of the request: each bad answer, and what is wrong with it. Default: nothing is
   * asked again. What completes empty gives up.
   */
  readonly repair?: (turns: ChatMessage[]) => Observable<ChatResponse>;
}

/** An answer that fits its schema. */
export interface Parsed<T> {
  readonly value: T;
  /** The answer that it was read from. */
  readonly response: ChatResponse;
  /** Number of times that an answer was sent back before. */
  readonly repairs: number;
}

/**
 * Reads JSON from an answer, also between ``` fences, and checks it by a schema; what does not fit is sent back.
 *
 *     chat$:     --(x|)               x = a bad answer
 *     repair:      ---(y|)            y = a good one
 *     result:    -----(v|)            v = the value of y, repairs: 1
 *
 * An answer at which the schema throws or rejects does not fit either; what was thrown is the `cause` of the error.
 * Fails with `InvalidAnswerError` after its repairs; at once, and nothing is asked again, where the answer is a refusal,
 * tool calls, or was cut off (`length`, `content_filter`). Errors of `chat$` and of the repair pass through. Several answers
 * are read one after the other. Unsubscribing stops whatever runs. Throws `ConfigError` for `repairs` that cannot work.
 *
 *     const ask = (turns: ChatMessage[]) => gateway.chat$({ messages: [...messages, ...turns] });
 *     ask([]).pipe(parse(z.object({ city: z.string() }), { repair: ask })).subscribe(({ value }) => console.log(value.city));
 */
export function parse<S extends StandardSchema>(schema: S, { repairs = 1, repair }: ParseOptions = {}): OperatorFunction<ChatResponse, Parsed<OutputOf<S>>> {
  if (!Number.isInteger(repairs) || repairs < 0) throw new ConfigError([`repairs is ${repairs}: give a whole number from 0 on`]);

  const read$ = (response: ChatResponse, turns: readonly ChatMessage[], done: number): Observable<Parsed<OutputOf<S>>> =>
    checkAnswer(schema, response).pipe(
      concatMap((answer) => {
        if (answer.type === 'fits') return of({ value: answer.value, response, repairs: done });
        const failed = (): InvalidAnswerError => invalidAnswer(response, answer, done);
        if (!answer.repairable || repair === undefined || done >= repairs) return throwError(() => failed());
        const more = [...turns, ...repairTurns(response, answer)];
        return repair([...more]).pipe(
          take(1),
          throwIfEmpty(failed),
          concatMap((again) => read$(again, more, done + 1)),
        );
      }),
    );

  return concatMap((response) => read$(response, [], 0));
}
