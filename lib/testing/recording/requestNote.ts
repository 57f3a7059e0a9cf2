import type { SchedulerLike } from 'rxjs';
import type { ChatDelta } from '../../model/delta.js';
import { maskSecrets } from '../../model/mask.js';
import type { ValidRequest } from '../../model/request.js';
import type { Source } from '../../model/source.js';
import type { RecordedDelta, RecordedEnd, RecordedRequest } from './recording.js';

/** A request that is being recorded. */
export interface RequestNote {
  readonly startMs: number;
  /** Whole milliseconds since its start, so that a replay can be drawn as marbles; never earlier than before, whatever the clock does. */
  atMs(this: void): number;
  add(this: void, delta: ChatDelta): void;
  end(this: void, ended: RecordedEnd): void;
  /** What is known by now; `sinceMs`: when the first request of the recording began. */
  request(this: void, sinceMs: number): RecordedRequest;
}

export interface RequestNoteOptions {
  readonly source: Source;
  readonly request: ValidRequest;
  readonly scheduler: SchedulerLike;
  readonly keepsRequest: boolean;
}

/** Begins with the request: times count from now. */
export function openNote({ source, request, scheduler, keepsRequest }: RequestNoteOptions): RequestNote {
  const startMs = scheduler.now();
  let latestMs = 0;
  const atMs = (): number => (latestMs = Math.max(latestMs, Math.round(scheduler.now() - startMs)));
  const deltas: RecordedDelta[] = [];
  let ended: RecordedEnd | undefined;
  const facts = {
    source: source.id,
    model: request.model ?? source.model,
    streamed: request.stream,
    ...(keepsRequest ? { request: copyOf(request, masked) } : {}),
  };
  return {
    startMs,
    atMs,
    add: (delta) => void deltas.push({ atMs: atMs(), ...copyOf(delta) }),
    end: (ending) => { ended = ending; },
    request: (sinceMs) => ({
      ...facts,
      startedMs: Math.max(0, Math.round(startMs - sinceMs)),
      deltas: [...deltas],
      end: ended ?? { type: 'open', atMs: atMs() },
    }),
  };
}

/** As a file would have it, so that nobody's later changes get in. JSON has no big integers: they become text. */
function copyOf<T>(value: T, textOf = (_name: string, text: string): string => text): T {
  const replace = (name: string, field: unknown): unknown => {
    if (typeof field === 'bigint') return String(field);
    return typeof field === 'string' ? textOf(name, field) : field;
  };
  return JSON.parse(JSON.stringify(value, replace)) as T;
}

/** A field may tell by its name alone that a key is in it. */
function masked(name: string, text: string): string {
  const before = `${name}: `;
  const whole = maskSecrets(before + text);
  return whole.startsWith(before) ? whole.slice(before.length) : maskSecrets(text);
}
