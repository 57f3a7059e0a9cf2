import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import { parse, responseFormat } from 'polygateway';
import type { ChatMessage, ChatResponse, Gateway } from 'polygateway';

export const Appointment = z.object({
  title: z.string().min(1),
  day: z.iso.date(),
  attendees: z.array(z.string()),
});
export type Appointment = z.infer<typeof Appointment>;

export interface ReadingOptions {
  /** Most times that a bad answer is sent back, with what is wrong with it; default 1. */
  readonly repairs?: number;
}

/**
 * Reads an appointment from a mail.
 *
 *     chat$:     ---(x|)              x = a day that is none
 *     chat$:        ---(y|)           the same question, x, and what is wrong with it
 *     result:    ------(a|)
 *
 * Fails with `InvalidAnswerError` where the last repair was no help, and with what `chat$` fails with. Unsubscribing closes the
 * socket of whichever answer is awaited.
 *
 *     readAppointment(gateway, mail).subscribe({ next: ({ title, day }) => calendar.add(title, day), error: report });
 */
export function readAppointment(gateway: Pick<Gateway, 'chat$'>, mail: string, { repairs = 1 }: ReadingOptions = {}): Observable<Appointment> {
  const ask = (turns: ChatMessage[]): Observable<ChatResponse> =>
    gateway.chat$({
      messages: [{ role: 'system', content: 'Which appointment does this mail make? Answer with JSON.' }, { role: 'user', content: mail }, ...turns],
      response_format: responseFormat(Appointment, 'appointment'),
    });

  return ask([]).pipe(parse(Appointment, { repair: ask, repairs }), map(({ value }) => value));
}
