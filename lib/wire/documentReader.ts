import { TransientError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import { isErrorReport } from './errorReport.js';
import { asRecord, parseJson } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

/** Reads a body that is one JSON document, as its text arrives. Both methods throw the attempt's error. */
export interface DocumentReader {
  text(this: void, text: string): void;
  /** The body has ended, or broke off with an error, which counts only if the document was not whole yet. */
  end(this: void, brokeOff?: AttemptError): void;
  readonly complete: boolean;
}

export interface DocumentReaderOptions<T> {
  readonly emit: (answer: T) => void;
  readonly failureOf: (report: unknown) => AttemptError;
  /** Makes the answer out of the document; throws where it is none. */
  readonly read: (document: JsonRecord) => T;
  /** Default 64 Mi. */
  readonly maxChars?: number;
}

export function createDocumentReader<T>({ emit, failureOf, read, maxChars = 64 * 1024 * 1024 }: DocumentReaderOptions<T>): DocumentReader {
  let document = '';
  let complete = false;
  return {
    text(text) {
      document += text;
      if (document.length > maxChars) throw new TransientError(`the answer is larger than ${maxChars} characters`);
    },
    end(brokeOff) {
      // A byte order mark is white space to `trimStart`, but not to JSON.
      const answer = asRecord(parseJson(document.trimStart()));
      if (answer === undefined) throw brokeOff ?? new TransientError('the body is not one JSON document: it is cut or garbled');
      if (isErrorReport(answer)) throw failureOf(answer);
      emit(read(answer));
      complete = true;
    },
    get complete() {
      return complete;
    },
  };
}
