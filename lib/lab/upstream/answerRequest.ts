import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { createFrameWriter, errorBody } from './chatFrames.js';
import type { AnswerIdentity } from './chatFrames.js';
import { playTimeline } from './playTimeline.js';
import { sendJson } from './sendJson.js';
import type { Timeline, TimelineStep } from './timeline.js';
import { decidingStep, wholeAnswer } from './wholeAnswer.js';

export interface AnswerOptions {
  response: ServerResponse;
  timeline: Timeline;
  streamed: boolean;
  /** On the clock of `performance.now()`. */
  arrivedMs: number;
  identity: AnswerIdentity;
  /** The upstream has ended the answer itself. */
  onFinished: () => void;
}

/** Plays a timeline as the answer to one request; returns what stops it. */
export function answerRequest(options: AnswerOptions): () => void {
  const { timeline, streamed, arrivedMs } = options;
  if (streamed) return playTimeline({ timeline, arrivedMs, act: streamedAct(options) });
  const step = decidingStep(timeline);
  return playTimeline({ timeline: step === undefined ? [] : [step], arrivedMs, act: wholeAct(options) });
}

function streamedAct({ response, identity, onFinished }: AnswerOptions): (step: TimelineStep) => void {
  const frame = createFrameWriter(identity);
  return (step) => {
    switch (step.type) {
      case 'hang':
        return;
      case 'open':
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...idHeader(identity) });
        response.flushHeaders();
        if (step.bare !== true) response.write(frame(step));
        return;
      case 'http-error':
        sendHttpError(response, step, identity);
        onFinished();
        return;
      case 'eof':
        response.end();
        onFinished();
        return;
      case 'reset':
        resetConnection(response);
        onFinished();
        return;
      default:
        response.write(frame(step));
    }
  };
}

function wholeAct({ response, timeline, identity, onFinished }: AnswerOptions): (step: TimelineStep) => void {
  const answer = (step: TimelineStep): void => {
    switch (step.type) {
      case 'http-error':
        sendHttpError(response, step, identity);
        return;
      case 'error':
        sendJson(response, 500, errorBody(step), idHeader(identity));
        return;
      case 'broken':
        response.writeHead(200, { 'content-type': 'application/json', ...idHeader(identity) }).end(step.text);
        return;
      case 'reset':
        resetConnection(response);
        return;
      case 'eof':
        response.destroy();
        return;
      default:
        sendJson(response, 200, wholeAnswer(timeline, identity), idHeader(identity));
    }
  };
  return (step) => {
    answer(step);
    onFinished();
  };
}

function sendHttpError(response: ServerResponse, step: TimelineStep & { type: 'http-error' }, identity: AnswerIdentity): void {
  const retryAfter = step.retryAfter === undefined ? {} : { 'retry-after': step.retryAfter };
  sendJson(response, step.status, errorBody(step), { ...idHeader(identity), ...retryAfter });
}

function idHeader({ id }: AnswerIdentity): OutgoingHttpHeaders {
  return { 'x-request-id': `req_${id}` };
}

/** A turn later, so that what was written in this one is not lost. */
function resetConnection(response: ServerResponse): void {
  setImmediate(() => response.socket?.resetAndDestroy());
}
