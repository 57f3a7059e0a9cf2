import * as errors from '../../model/errors.js';
import { attemptError, codeOf, messageOf } from '../../model/errors.js';
import type { ErrorFacts, FailureClass } from '../../model/errors.js';
import { maskSecrets } from '../../model/mask.js';
import type { RecordedError } from './recording.js';
import { blank, blankUnlessWord } from './withoutText.js';

const failureClasses: readonly string[] = ['transient', 'rate_limited', 'source', 'request'] satisfies FailureClass[];

/** Classes of this library, of the language and of the platform: any other name may be made of what was said. */
const knownNames: readonly string[] = [
  ...Object.keys(errors),
  ...['Error', 'AggregateError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'AbortError', 'TimeoutError'],
];

/** Whatever leads in a circle ends here. */
const deepest = 8;

/** What is kept of anything that was thrown. Without `text`, messages and ids are blank, since a message may repeat a prompt, and a name that is not known is `Error`. */
export function toRecordedError(thrown: unknown, { text }: { readonly text: boolean }, depth = 1): RecordedError {
  const { name, httpStatus, retryAfterS, providerRequestId, cause } = Object(thrown) as Record<string, unknown>;
  const code = codeOf(thrown);
  const message = maskSecrets(messageOf(thrown));
  return {
    name: typeof name === 'string' && (text || knownNames.includes(name)) ? name : 'Error',
    ...(code === undefined ? {} : { code: text ? code : blankUnlessWord(code) }),
    message: text ? message : blank(message),
    ...(isFinite(httpStatus) ? { httpStatus } : {}),
    ...(isFinite(retryAfterS) ? { retryAfterS } : {}),
    ...(typeof providerRequestId === 'string' ? { providerRequestId: text ? providerRequestId : blank(providerRequestId) } : {}),
    ...(cause === undefined || depth === deepest ? {} : { cause: toRecordedError(cause, { text }, depth + 1) }),
  };
}

/** JSON has no other numbers. */
function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}

/** The error again: of the same class with the same facts where it is this library's, else of the same name, code and message. */
export function replayedError({ name, code, message, cause, ...given }: RecordedError): Error {
  const facts: ErrorFacts = { ...given, ...(cause === undefined ? {} : { cause: replayedError(cause) }) };
  if (isFailureClass(code)) return attemptError(code, message, facts);
  const { cause: because, ...rest } = facts;
  const error = new Error(message, because === undefined ? undefined : { cause: because });
  return Object.assign(error, { name, ...(code === undefined ? {} : { code }), ...rest });
}

function isFailureClass(code: string | undefined): code is FailureClass {
  return code !== undefined && failureClasses.includes(code);
}
