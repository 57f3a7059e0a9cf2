import type { SeenRequest } from '../../lab/upstream/seenRequest.js';
import { inSeconds } from '../inSeconds.js';
import type { Screen } from '../terminal.js';

export interface RequestLog {
  onRequest(this: void, request: SeenRequest): void;
  onEnd(this: void, request: SeenRequest): void;
}

const longestScript = 100;

/** One line when a request comes, and one more if its client leaves before the answer has ended. Never a header. */
export function createRequestLog({ line, paint }: Screen): RequestLog {
  const numbers = new Map<SeenRequest, number>();
  const numbered = (request: SeenRequest): string => paint('dim', `#${numbers.get(request) ?? 0}`);
  let count = 0;
  return {
    onRequest(request) {
      numbers.set(request, (count += 1));
      line(`${numbered(request)} ${request.body['stream'] === true ? 'streamed' : 'whole'}, ${messageCount(request)}, plays ${cut(request.script)}`);
    },
    onEnd(request) {
      const { startedMs, closedByClientMs } = request;
      if (closedByClientMs !== null) line(`${numbered(request)} ${paint('yellow', 'the client left')} after ${inSeconds(closedByClientMs - startedMs)}`);
      numbers.delete(request);
    },
  };
}

function messageCount({ body }: SeenRequest): string {
  const count = Array.isArray(body['messages']) ? body['messages'].length : 0;
  return `${count} ${count === 1 ? 'message' : 'messages'}`;
}

function cut(script: string): string {
  const line = script.replace(/\s+/g, ' ');
  return line.length > longestScript ? `${line.slice(0, longestScript)}...` : line;
}
