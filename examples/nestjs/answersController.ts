import { Controller, Inject, Query, Sse } from '@nestjs/common';
import type { MessageEvent } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Answers } from './answers.js';

/** `GET /answer?question=…`, as server-sent events; Nest unsubscribes when the client leaves. */
@Controller()
export class AnswersController {
  readonly #answers: Answers;

  constructor(@Inject(Answers) answers: Answers) {
    this.#answers = answers;
  }

  @Sse('answer')
  answer(@Query('question') question: string): Observable<MessageEvent> {
    return this.#answers.about(question);
  }
}
