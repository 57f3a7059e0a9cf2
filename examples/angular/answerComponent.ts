import { Component, inject } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { Subject } from 'rxjs';
import { AnswerClient } from './answerClient.js';
import { answerViews, noAnswer } from './answerViews.js';

/** A question and its answer as it comes; leaving the component closes the connection, as a new question does. */
@Component({
  selector: 'app-answer',
  template: `
    <form (submit)="$event.preventDefault(); ask(field.value)">
      <label>Question <input #field type="text" required></label>
      <button>Ask</button>
    </form>
    <p aria-live="polite">{{ view().text }}</p>
    @if (view().silentS > 0) { <p>silent for {{ view().silentS }} s</p> }
    @if (view().end !== '') { <p role="status">{{ view().end }}, {{ view().stallMs }} ms silent</p> }
  `,
})
export class AnswerComponent {
  readonly #client = inject(AnswerClient);
  // A door: questions are pushed in by the template.
  readonly #question$ = new Subject<string>();

  readonly view = toSignal(answerViews(this.#question$, (question) => this.#client.ask(question)), { initialValue: noAnswer });

  ask(question: string): void {
    this.#question$.next(question);
  }
}
