import { TransientError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import type { ChatDelta } from '../model/delta.js';
import { createChatDeltas } from './chatDeltas.js';
import type { ChatDeltas } from './chatDeltas.js';
import { chatDocument } from './chatDocument.js';
import { isErrorReport } from './errorReport.js';
import { saysFailed } from './finishReason.js';
import { framePayloads } from './framePayloads.js';
import { asList, asRecord, asText } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';
import { createSseFrames } from './sseFrames.js';
import type { SseFrame, SseFrames } from './sseFrames.js';

/** Reads the body of one answer, event stream or JSON, as its text arrives. Both methods throw the attempt's error. */
export interface ChatReader {
  text(text: string): void;
  /** The body has ended, or broke off with an error, which counts only if the answer was not whole yet. */
  end(brokeOff?: AttemptError): void;
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

export function createChatReader(options: ChatReaderOptions): ChatReader {
  return new BodyReader(options);
}

/** A class, since one is held for each stream: the closures of a factory would be six times its size. */
class BodyReader implements ChatReader {
  complete = false;
  private kind: 'unknown' | 'frames' | 'document' = 'unknown';
  private document = '';
  private ending = false;
  private readonly options: ChatReaderOptions;
  private readonly deltas: ChatDeltas;
  private readonly frames: SseFrames;

  constructor(options: ChatReaderOptions) {
    const { emit, requestId, thinkTags = false, maxFrameChars = 16 * mebi } = options;
    this.options = options;
    this.deltas = createChatDeltas({ emit, requestId, thinkTags });
    this.frames = createSseFrames({
      onFrame: (frame) => this.readFrame(frame),
      onOversize() {
        throw new TransientError(`a frame of the stream is larger than ${maxFrameChars} characters`);
      },
      maxChars: maxFrameChars,
    });
  }

  text(text: string): void {
    if (this.complete) return;
    const rest = this.kind === 'unknown' ? this.recognise(text) : text;
    if (this.kind === 'frames') this.frames.feed(rest);
    if (this.kind !== 'document') return;
    this.document += rest;
    const { maxDocumentChars = 64 * mebi } = this.options;
    if (this.document.length > maxDocumentChars) throw new TransientError(`the answer is larger than ${maxDocumentChars} characters`);
  }

  end(brokeOff?: AttemptError): void {
    if (this.complete) return;
    if (this.kind === 'unknown') throw brokeOff ?? new TransientError('the body is empty');
    if (this.kind === 'document') {
      this.readDocument(brokeOff);
      return;
    }
    this.ending = true;
    this.frames.end();
    // Set by the frames just read, which the compiler cannot see.
    if (this.complete as boolean) return;
    if (brokeOff !== undefined && !this.deltas.ended) throw brokeOff;
    if (!this.deltas.finished) throw new TransientError('the stream ended without a finish reason and without [DONE]');
    this.finish();
  }

  private recognise(text: string): string {
    const start = text.replace(/^[\uFEFF\s]+/, '');
    if (start === '') return '';
    if (start.startsWith('<')) throw new TransientError('the body is a markup page in place of an answer');
    this.kind = start.startsWith('{') || start.startsWith('[') ? 'document' : 'frames';
    return start;
  }

  private readFrame({ data, event }: SseFrame): void {
    if (this.complete) return;
    const payloads = framePayloads(data);
    if (event === 'error' && !this.deltas.ended) throw this.options.failureOf(payloads[0]?.type === 'chunk' ? payloads[0].chunk : { message: data });
    for (const payload of payloads) {
      switch (payload.type) {
        case 'chunk':
          this.readChunk(payload.chunk);
          break;
        case 'done':
          this.finish();
          return;
        case 'broken':
          // A frame that the end of the body has cut is truncation, and nothing after a finish reason can matter.
          if (!this.ending && !this.deltas.ended) throw new TransientError('a frame of the stream is no JSON document');
          break;
        default:
          payload satisfies never;
      }
    }
  }

  private readChunk(chunk: JsonRecord): void {
    // The first terminal event wins: an error after the finish reason takes nothing back, unless the answer had gone on.
    if (!this.deltas.ended) this.refuseFailure(chunk);
    this.deltas.read(chunk);
  }

  private refuseFailure(chunk: JsonRecord): void {
    if (isErrorReport(chunk)) throw this.options.failureOf(chunk);
    const choice = asRecord(asList(chunk['choices'])[0]);
    if (choice === undefined) return;
    if (isErrorReport(choice)) throw this.options.failureOf(choice);
    const word = asText(choice['finish_reason']);
    if (word !== '' && saysFailed(word)) throw new TransientError(`the source broke the answer off with finish reason ${word.slice(0, 40)}`);
  }

  private readDocument(brokeOff: AttemptError | undefined): void {
    const answer = chatDocument(this.document);
    if (answer === undefined) throw brokeOff ?? new TransientError('the body is not one JSON document: it is cut, garbled, or a list of several');
    this.refuseFailure(answer);
    if (asList(answer['choices']).length === 0) throw new TransientError('there is no answer in the body');
    const { emit, requestId, thinkTags = false, streamed } = this.options;
    const whole = createChatDeltas({ emit, requestId, thinkTags, whole: streamed });
    whole.read(answer);
    whole.flush();
    if (whole.empty) throw emptyAnswer();
    this.complete = true;
  }

  private finish(): void {
    if (!this.deltas.finished && !this.deltas.toolsAreWhole) throw new TransientError('the stream ended in the middle of the arguments of a tool call');
    this.deltas.flush();
    if (this.deltas.empty) throw emptyAnswer();
    this.complete = true;
  }
}

function emptyAnswer(): TransientError {
  return new TransientError('the answer ended without any output');
}
