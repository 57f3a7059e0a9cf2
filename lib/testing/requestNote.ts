import type { SchedulerLike } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import type { ValidRequest } from '../model/request.js';
import type { Source } from '../model/source.js';
import type { RecordedDelta, RecordedEnd, RecordedRequest } from './recording.js';

/** A request that is being recorded. */
export interface RequestNote {
  readonly startMs: number;
  /** Whole milliseconds since its start, so that a replay can be drawn as marbles. */
  atMs(this: void): number;
  add(this: void, delta: ChatDelta): void;
  end(this: void, ended: RecordedEnd): void;
  /** What is known by now. */
  request(this: void): RecordedRequest;
}

export interface RequestNoteOptions {
  readonly source: Source;
  readonly request: ValidRequest;
  readonly scheduler: SchedulerLike;
  readonly keepsRequest: boolean;
  /** When the first request began; absent: this is it. */
  readonly sinceMs: number | undefined;
}

/** Begins with the request: times count from now. */
export function openNote({ source, request, scheduler, keepsRequest, sinceMs }: RequestNoteOptions): RequestNote {
  const startMs = scheduler.now();
  const atMs = (): number => Math.round(scheduler.now() - startMs);
  const deltas: RecordedDelta[] = [];
  let ended: RecordedEnd | undefined;
  const facts = {
    source: source.id,
    model: request.model ?? source.model,
    streamed: request.stream,
    startedMs: Math.round(startMs - (sinceMs ?? startMs)),
    ...(keepsRequest ? { request } : {}),
  };
  return {
    startMs,
    atMs,
    add: (delta) => void deltas.push({ atMs: atMs(), ...delta }),
    end: (ending) => { ended = ending; },
    request: () => ({ ...facts, deltas: [...deltas], end: ended ?? { type: 'open', atMs: atMs() } }),
  };
}
