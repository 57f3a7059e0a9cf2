import type { SchedulerLike } from 'rxjs';
import { ConfigError, RequestError } from '../../model/errors.js';
import type { ScriptStep } from '../../sources/scriptedSource.js';
import { replayedError } from './recordedError.js';
import type { RecordedEnd, RecordedRequest, Recording } from './recording.js';
import type { Timeline } from '../script.js';
import { scriptedSource } from '../scriptedSource.js';
import type { ScriptedSource } from '../scriptedSource.js';

/** On which clock, and how fast. */
export interface ReplayOptions {
  /** Default: RxJS's own, which is real time, but virtual inside `TestScheduler.run`. */
  readonly scheduler?: SchedulerLike;
  /** 10 plays ten times as fast; limits and thresholds stay as they are. Default 1. */
  readonly speed?: number;
}

/**
 * The sources of a recording, in its order: each answers its first request as it did then, its second as then, and so on.
 *
 *     recorded:   -a--b-----c|      loser, left at 9: -a--b----
 *     replayed:   -a--b-----c|                        -a--b---------…
 *
 * Times count from each request, to the millisecond. What failed fails with an error of the same class and facts. What the gateway
 * cancelled is silent from there on: what would have come is not known, so that a threshold which waits longer than the one of
 * the recording sees a silence that may not have been. A request more than were recorded fails with `RequestError`.
 * Limits, priorities and the like are those of then; thresholds are yours to try. Throws `ConfigError` for a `speed` that is not above 0.
 *
 *     const sources = replay(readRecording('fixtures/slowStart.json'), { scheduler: testScheduler });
 *     const gateway = testGateway({ sources, settings: { hedgeStallAfterS: 5 } }, testScheduler);
 */
export function replay({ sources, requests }: Recording, { scheduler, speed = 1 }: ReplayOptions = {}): readonly ScriptedSource[] {
  if (!(speed > 0 && speed < Infinity)) throw new ConfigError([`replay was told speed: ${speed}, which must be a number above 0; 1 is as it was`]);
  return sources.map((source) => {
    const own = requests.filter(({ source: id }) => id === source.id);
    const scripts = [...own.map((request) => timelineOf(request, speed)), oneTooMany(source.id, own.length)];
    return scriptedSource(scripts, { ...source, ...(scheduler === undefined ? {} : { scheduler }) });
  });
}

function timelineOf({ deltas, end }: RecordedRequest, speed: number): Timeline {
  const said = deltas.map(({ atMs, ...delta }): ScriptStep => ({ atMs, type: 'delta', delta }));
  return { steps: [...said, ...endOf(end)].map((step) => ({ ...step, atMs: step.atMs / speed })) };
}

function endOf(end: RecordedEnd): ScriptStep[] {
  switch (end.type) {
    case 'completed':
      return [{ atMs: end.atMs, type: 'end' }];
    case 'failed':
      return [{ atMs: end.atMs, type: 'error', error: replayedError(end.error) }];
    case 'left':
    case 'open':
      return [];
    default:
      return end satisfies never;
  }
}

function oneTooMany(id: string, recorded: number): Timeline {
  const error = new RequestError(`the recording holds ${recorded === 1 ? '1 request' : `${recorded} requests`} to ${id}, and this is one more: record it anew, or ask as often as then`);
  return { steps: [{ atMs: 0, type: 'error', error }] };
}
