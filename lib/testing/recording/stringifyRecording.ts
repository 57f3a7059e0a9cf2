import type { RecordedRequest, Recording } from './recording.js';

/** What a file begins with that holds a recording. */
export const recordingFormat = 'polygateway-recording';

/**
 * A recording as JSON to be kept with the tests: one source and one delta a line, so that a change can be read in a diff.
 *
 *     console.log(stringifyRecording(createRecorder().recording));
 */
export function stringifyRecording({ version, text, sources, requests }: Recording): string {
  return `${object({
    format: inline(recordingFormat),
    version: inline(version),
    text: inline(text),
    sources: list(sources.map(inline)),
    requests: list(requests.map(requestText)),
  })}\n`;
}

function requestText({ source, model, streamed, startedMs, request, deltas, end }: RecordedRequest): string {
  return object({
    source: inline(source),
    model: inline(model),
    streamed: inline(streamed),
    startedMs: inline(startedMs),
    ...(request === undefined ? {} : { request: JSON.stringify(request, null, 2) }),
    deltas: list(deltas.map(inline)),
    end: inline(end),
  });
}

function inline(value: unknown): string {
  return JSON.stringify(value);
}

function object(fields: Readonly<Record<string, string>>): string {
  return block(Object.entries(fields).map(([name, written]) => `${inline(name)}: ${written}`), '{', '}');
}

function list(items: readonly string[]): string {
  return block(items, '[', ']');
}

/** What is in it is JSON already, in which a line break is never part of a text. */
function block(items: readonly string[], open: string, close: string): string {
  return items.length === 0 ? open + close : `${open}\n  ${items.join(',\n').replaceAll('\n', '\n  ')}\n${close}`;
}
