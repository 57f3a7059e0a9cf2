import { EMPTY, Observable, asyncScheduler } from 'rxjs';
import type { OperatorFunction, SchedulerLike } from 'rxjs';
import { annotate, toAttemptError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import { failure } from '../wire/failure.js';
import { headerText } from '../wire/headerText.js';
import { providerRequestId } from '../wire/providerRequestId.js';
import { createBodyText } from './bodyText.js';
import type { BodyText } from './bodyText.js';
import type { HttpPart } from './httpBytes.js';

/** Reads the body of one answer as its text arrives. Both methods throw the attempt's error. */
export interface BodyReader {
  text(text: string): void;
  end(brokeOff?: AttemptError): void;
  /** The end of the answer was seen. */
  readonly complete: boolean;
}

export interface ReaderContext<T> {
  readonly emit: (value: T) => void;
  /** Makes the error of what is reported in place of an answer. */
  readonly failureOf: (report: unknown) => AttemptError;
  readonly requestId: string | undefined;
}

export interface ReadResponseOptions<T> {
  readonly source: string;
  readonly openReader: (context: ReaderContext<T>) => BodyReader;
  readonly secrets?: readonly string[];
  /** While its last value is `true`, what is decompressed waits; its end is the end of holding. */
  readonly held$?: Observable<boolean> | undefined;
  readonly scheduler?: SchedulerLike;
}

type Head = Extract<HttpPart, { type: 'head' }>;

const maxErrorBodyChars = 64 * 1024;
/** A status tells the class by itself, so the words that come with it are not waited for long. */
const errorBodyMs = 2000;
/** The end of the body commonly follows the end marker by itself; then the connection can be used again. */
const lingerMs = 100;

/**
 * Reads the parts of one HTTP answer with the reader of its protocol. Completes when the end of the answer was seen, not when the connection
 * ends; fails with the error of the class that status, body or stream tell. Unsubscribing closes the connection at once.
 */
export function readResponse<T>(options: ReadResponseOptions<T>): OperatorFunction<HttpPart, T> {
  const { source, openReader, secrets = [], held$ = EMPTY, scheduler = asyncScheduler } = options;
  return (parts$) =>
    new Observable((subscriber) => {
      let head: Head | undefined;
      let body: BodyText | undefined;
      let answered = false;
      let isHeld = false;

      function fail(thrown: unknown): void {
        const requestId = head && providerRequestId(head.headers, secrets);
        const facts = { source, ...(head && { httpStatus: head.status }), ...(requestId && { providerRequestId: requestId }) };
        subscriber.error(annotate(toAttemptError(thrown), facts));
      }

      function guarded(step: () => void): void {
        if (subscriber.closed) return;
        try {
          step();
        } catch (thrown) {
          fail(thrown);
        }
      }

      function failureOf({ status, headers }: Head, report: unknown): ReturnType<typeof failure> {
        return failure({ status, headers, body: report, receivedAtMs: new Date().getTime(), secrets });
      }

      function readAnswer(answer: Head): { text: (text: string) => void; end: (brokeOff?: unknown) => void } {
        const reader = openReader({
          emit: (value) => subscriber.next(value),
          failureOf: (report) => failureOf(answer, report),
          requestId: providerRequestId(answer.headers, secrets),
        });
        const settle = (): void => {
          if (!reader.complete) return;
          answered = true;
          subscriber.complete();
        };
        return {
          text(text) {
            reader.text(text);
            settle();
          },
          end(brokeOff) {
            reader.end(brokeOff === undefined ? undefined : toAttemptError(brokeOff));
            settle();
          },
        };
      }

      function readFailure(refusal: Head): { text: (text: string) => void; end: () => void } {
        let report = '';
        const end = (): void => fail(failureOf(refusal, report));
        inner.add(scheduler.schedule(() => guarded(end), errorBodyMs));
        return {
          text(text) {
            report += text.slice(0, maxErrorBodyChars - report.length);
            if (report.length >= maxErrorBodyChars) end();
          },
          end,
        };
      }

      let finish: (brokeOff?: unknown) => void = (brokeOff) => fail(brokeOff);
      let brokeOff: unknown;

      function begin(part: Head): void {
        head = part;
        const { text, end } = part.status >= 200 && part.status < 300 ? readAnswer(part) : readFailure(part);
        finish = end;
        body = createBodyText({
          encoding: headerText(part.headers, 'content-encoding'),
          onText: (piece) => guarded(() => text(piece)),
          onEnd: () => guarded(() => end(brokeOff)),
          onError: (error) => guarded(() => finish(brokeOff ?? error)),
        });
        body.hold(isHeld);
      }

      const inner = parts$.subscribe({
        next(part) {
          if (subscriber.closed) return;
          if (part.type === 'bytes') body?.write(part.bytes);
          else guarded(() => begin(part));
        },
        error(error: unknown) {
          brokeOff = error;
          if (body === undefined) guarded(() => finish(error));
          else body.end();
        },
        complete: () => body?.end(),
      });
      const hold = (held: boolean): void => {
        isHeld = held;
        body?.hold(held);
      };
      // Apart from the parts, which may all have come before the rest of them is unpacked.
      const holding = held$.subscribe({ next: hold, error: () => hold(false), complete: () => hold(false) });
      return () => {
        holding.unsubscribe();
        body?.close();
        if (answered && !inner.closed) inner.add(scheduler.schedule(() => inner.unsubscribe(), lingerMs));
        else inner.unsubscribe();
      };
    });
}
