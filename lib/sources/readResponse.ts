import { Observable, asyncScheduler } from 'rxjs';
import type { Observer, OperatorFunction, SchedulerLike, Subscriber, Subscription } from 'rxjs';
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
  const { held$, scheduler = asyncScheduler } = options;
  return (parts$) =>
    new Observable((subscriber) => {
      const reading = new Reading(options, subscriber);
      const parts = parts$.subscribe(reading);
      // Apart from the parts, which may all have come before the rest of them is unpacked.
      const hold = (held: boolean): void => reading.hold(held);
      const holding = held$?.subscribe({ next: hold, error: () => hold(false), complete: () => hold(false) });
      return () => {
        holding?.unsubscribe();
        reading.close();
        if (reading.answered && !parts.closed) parts.add(scheduler.schedule(() => parts.unsubscribe(), lingerMs));
        else parts.unsubscribe();
      };
    });
}

/** A class, since one is held for each stream: the closures of a function would be six times its size. */
class Reading<T> implements Observer<HttpPart> {
  answered = false;
  private head: Head | undefined;
  private body: BodyText | undefined;
  private reader: BodyReader | undefined;
  private timer: Subscription | undefined;
  private isHeld = false;
  private brokeOff: unknown;
  private readonly options: ReadResponseOptions<T>;
  private readonly subscriber: Subscriber<T>;

  constructor(options: ReadResponseOptions<T>, subscriber: Subscriber<T>) {
    this.options = options;
    this.subscriber = subscriber;
  }

  next(part: HttpPart): void {
    if (this.subscriber.closed) return;
    if (part.type === 'bytes') this.body?.write(part.bytes);
    else this.begin(part);
  }

  error(error: unknown): void {
    this.brokeOff = error;
    if (this.body === undefined) this.fail(error);
    else this.body.end();
  }

  complete(): void {
    this.body?.end();
  }

  hold(held: boolean): void {
    this.isHeld = held;
    this.body?.hold(held);
  }

  close(): void {
    this.timer?.unsubscribe();
    this.body?.close();
  }

  private begin(head: Head): void {
    this.head = head;
    try {
      this.reader = head.status >= 200 && head.status < 300 ? this.openAnswer(head) : this.openFailure(head);
      this.body = createBodyText({
        encoding: headerText(head.headers, 'content-encoding'),
        onText: (text) => this.text(text),
        onEnd: () => this.end(this.brokeOff),
        onError: (error) => this.end(this.brokeOff ?? error),
      });
      this.body.hold(this.isHeld);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  private openAnswer(head: Head): BodyReader {
    const { openReader, secrets = [] } = this.options;
    return openReader({
      emit: (value) => this.subscriber.next(value),
      failureOf: (report) => this.failureOf(head, report),
      requestId: providerRequestId(head.headers, secrets),
    });
  }

  /** Of a refusal, the report is read until it is long enough, or has taken long enough. */
  private openFailure(head: Head): BodyReader {
    const { scheduler = asyncScheduler } = this.options;
    let report = '';
    const end = (): never => {
      throw this.failureOf(head, report);
    };
    this.timer = scheduler.schedule(() => this.end(undefined), errorBodyMs);
    return {
      complete: false,
      text(text) {
        report += text.slice(0, maxErrorBodyChars - report.length);
        if (report.length >= maxErrorBodyChars) end();
      },
      end,
    };
  }

  private text(text: string): void {
    if (this.subscriber.closed) return;
    try {
      this.reader?.text(text);
    } catch (thrown) {
      this.fail(thrown);
      return;
    }
    if (this.reader?.complete === true) this.settle();
  }

  private end(brokeOff: unknown): void {
    if (this.subscriber.closed) return;
    try {
      this.reader?.end(brokeOff === undefined ? undefined : toAttemptError(brokeOff));
    } catch (thrown) {
      this.fail(thrown);
      return;
    }
    if (this.reader?.complete === true) this.settle();
  }

  private settle(): void {
    this.answered = true;
    this.subscriber.complete();
  }

  private fail(thrown: unknown): void {
    const { source, secrets = [] } = this.options;
    const { head } = this;
    const requestId = head && providerRequestId(head.headers, secrets);
    const facts = { source, ...(head && { httpStatus: head.status }), ...(requestId && { providerRequestId: requestId }) };
    this.subscriber.error(annotate(toAttemptError(thrown), facts));
  }

  private failureOf({ status, headers }: Head, report: unknown): AttemptError {
    return failure({ status, headers, body: report, receivedAtMs: new Date().getTime(), secrets: this.options.secrets ?? [] });
  }
}
