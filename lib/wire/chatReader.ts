import { TransientError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import type { ChatDelta } from '../model/delta.js';
import { createChatDeltas } from './chatDeltas.js';
import { chatDocument } from './chatDocument.js';
import { isErrorReport } from './errorReport.js';
import { saysFailed } from './finishReason.js';
import { framePayloads } from './framePayloads.js';
import { asList, asRecord, asText } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';
import { createSseFrames } from './sseFrames.js';
import type { SseFrame } from './sseFrames.js';

/** Reads the body of one answer, event stream or JSON, as its text arrives. Both methods throw the attempt's error. */
export interface ChatReader {
  text(this: void, text: string): void;
  /** The body has ended, or broke off with an error, which counts only if the answer was not whole yet. */
  end(this: void, brokeOff?: AttemptError): void;
  /** The end of the answer was seen; whatever follows is not read. */
  readonly complete: boolean;
}

/**
 * `streamed`: a stream was asked for. `failureOf` makes the error of what the provider reports in place of an answer.
 * `maxFrameChars` and `maxDocumentChars` default to 16 and 64 MiB.
 */
export interface ChatReaderOptions {
  readonly emit: (delta: ChatDelta) => void;
  readonly failureOf: (report: unknown) => AttemptError;
  readonly streamed: boolean;
  readonly thinkTags?: boolean;
  readonly requestId?: string | undefined;
  readonly maxFrameChars?: number;
  readonly maxDocumentChars?: number;
}

const mebi = 1024 * 1024;

export function createChatReader({
  emit,
  failureOf,
  streamed,
  thinkTags = false,
  requestId,
  maxFrameChars = 16 * mebi,
  maxDocumentChars = 64 * mebi,
}: ChatReaderOptions): ChatReader {
  let kind: 'unknown' | 'frames' | 'document' = 'unknown';
  let document = '';
  let complete = false;
  let ending = false;
  const deltas = createChatDeltas({ emit, requestId, thinkTags });
  const frames = createSseFrames({
    onFrame: readFrame,
    onOversize() {
      throw new TransientError(`a frame of the stream is larger than ${maxFrameChars} characters`);
    },
    maxChars: maxFrameChars,
  });

  function readFrame({ data, event }: SseFrame): void {
    if (complete) return;
    const payloads = framePayloads(data);
    if (event === 'error' && !deltas.ended) throw failureOf(payloads[0]?.type === 'chunk' ? payloads[0].chunk : { message: data });
    for (const payload of payloads) {
      switch (payload.type) {
        case 'chunk':
          readChunk(payload.chunk);
          break;
        case 'done':
          finish();
          return;
        case 'broken':
          // A frame that the end of the body has cut is truncation, and nothing after a finish reason can matter.
          if (!ending && !deltas.ended) throw new TransientError('a frame of the stream is no JSON document');
          break;
        default:
          payload satisfies never;
      }
    }
  }

  function readChunk(chunk: JsonRecord): void {
    // The first terminal event wins: an error after the finish reason takes nothing back, unless the answer had gone on.
    if (!deltas.ended) refuseFailure(chunk);
    deltas.read(chunk);
  }

  function refuseFailure(chunk: JsonRecord): void {
    if (isErrorReport(chunk)) throw failureOf(chunk);
    const choice = asRecord(asList(chunk['choices'])[0]);
    if (choice === undefined) return;
    if (isErrorReport(choice)) throw failureOf(choice);
    const word = asText(choice['finish_reason']);
    if (word !== '' && saysFailed(word)) throw new TransientError(`the source broke the answer off with finish reason ${word.slice(0, 40)}`);
  }

  function readDocument(brokeOff: AttemptError | undefined): void {
    const answer = chatDocument(document);
    if (answer === undefined) throw brokeOff ?? new TransientError('the body is not one JSON document: it is cut, garbled, or a list of several');
    refuseFailure(answer);
    if (asList(answer['choices']).length === 0) throw new TransientError('there is no answer in the body');
    const whole = createChatDeltas({ emit, requestId, thinkTags, whole: streamed });
    whole.read(answer);
    whole.flush();
    if (whole.empty) throw emptyAnswer();
    complete = true;
  }

  function finish(): void {
    if (!deltas.finished && !deltas.toolsAreWhole) throw new TransientError('the stream ended in the middle of the arguments of a tool call');
    deltas.flush();
    if (deltas.empty) throw emptyAnswer();
    complete = true;
  }

  function recognise(text: string): string {
    const start = text.replace(/^[\uFEFF\s]+/, '');
    if (start === '') return '';
    if (start.startsWith('<')) throw new TransientError('the body is a markup page in place of an answer');
    kind = start.startsWith('{') || start.startsWith('[') ? 'document' : 'frames';
    return start;
  }

  return {
    text(text) {
      if (complete) return;
      const rest = kind === 'unknown' ? recognise(text) : text;
      if (kind === 'frames') frames.feed(rest);
      if (kind !== 'document') return;
      document += rest;
      if (document.length > maxDocumentChars) throw new TransientError(`the answer is larger than ${maxDocumentChars} characters`);
    },
    end(brokeOff) {
      if (complete) return;
      if (kind === 'unknown') throw brokeOff ?? new TransientError('the body is empty');
      if (kind === 'document') {
        readDocument(brokeOff);
        return;
      }
      ending = true;
      frames.end();
      // Set by the frames just read, which the compiler cannot see.
      if (complete as boolean) return;
      if (brokeOff !== undefined && !deltas.ended) throw brokeOff;
      if (!deltas.finished) throw new TransientError('the stream ended without a finish reason and without [DONE]');
      finish();
    },
    get complete() {
      return complete;
    },
  };
}

function emptyAnswer(): TransientError {
  return new TransientError('the answer ended without any output');
}
