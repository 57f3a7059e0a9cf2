import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { asyncScheduler, defer, tap } from 'rxjs';
import type { SchedulerLike, TapObserver } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import { ConfigError, GatewayError, messageOf } from '../model/errors.js';
import type { ValidRequest } from '../model/request.js';
import type { Source } from '../model/source.js';
import { toRecordedError } from './recordedError.js';
import type { RecordedEnd, RecordedSource, Recording } from './recording.js';
import { openNote } from './requestNote.js';
import type { RequestNote } from './requestNote.js';
import { stringifyRecording } from './stringifyRecording.js';
import { withoutText } from './withoutText.js';

/** What of a call is kept. */
export interface RecorderOptions {
  /** `false`: nothing that was said can be read, only when, how much and how it ended. Default `true`. */
  readonly text?: boolean;
  /** Whether what was asked is kept too; not together with `text: false`. Default `false`. */
  readonly request?: boolean;
}

/** Notes what sources say, and when. */
export interface Recorder {
  /** The same source, recorded from now on; for `createGateway`, whose clock it takes. */
  wrapSource<S extends Source>(this: void, source: S, on?: { readonly scheduler?: SchedulerLike }): S;
  /** All so far; what still runs ends as `open`. Throws `GatewayError` if something could not be noted. */
  readonly recording: Recording;
  /** Writes the recording over what is in the file, and makes its folder if need be. Throws what Node throws. */
  save(this: void, file: string): void;
}

/**
 * Records every request to the sources that it wraps: each attempt, those that failed and the cancelled losers of hedges too.
 *
 *     source:     -a--b-----c|
 *     result:     -a--b-----c|      in the same turns; what goes wrong in recording never gets into the call
 *     recording:  1a 4b    10c 11|  whole ms since the request
 *
 * `text: false` keeps times, lengths, types of deltas, usage, finish reasons, codes and names of models; each text, id, name and
 * argument of a tool and message of an error is a run of `x` as long as it was, and `logprobs` and unknown fields are empty. Keys are
 * never seen here. Everything is kept in memory until the recorder is let go. Where a slow reader held a passed-on answer, the
 * wait is in its times. Throws `ConfigError` for `request: true` with `text: false`.
 *
 *     const recorder = createRecorder();
 *     const gateway = createGateway({ settings, wrapSource: recorder.wrapSource });
 *     await gateway.chat(request);
 *     recorder.save('fixtures/slowStart.json');
 */
export function createRecorder({ text = true, request: keepsRequest = false }: RecorderOptions = {}): Recorder {
  if (keepsRequest && !text) throw new ConfigError(['createRecorder was told request: true, which keeps what was said, and text: false, which forbids it: leave one of them out']);
  const sources = new Map<string, RecordedSource>();
  const notes: RequestNote[] = [];
  let trouble: { readonly cause: unknown } | undefined;

  function safely(work: () => void): void {
    try {
      work();
    } catch (cause: unknown) {
      trouble ??= { cause };
    }
  }

  function observer(source: Source, request: ValidRequest, scheduler: SchedulerLike): Partial<TapObserver<ChatDelta>> {
    let note: RequestNote | undefined;
    const end = (ending: (atMs: number) => RecordedEnd): void => safely(() => note?.end(ending(note.atMs())));
    return {
      subscribe: () => safely(() => {
        note = openNote({ source, request, scheduler, keepsRequest, sinceMs: notes[0]?.startMs });
        notes.push(note);
      }),
      next: (delta) => safely(() => note?.add(text ? delta : withoutText(delta))),
      error: (thrown: unknown) => end((atMs) => ({ type: 'failed', atMs, error: toRecordedError(thrown, { text }) })),
      complete: () => end((atMs) => ({ type: 'completed', atMs })),
      unsubscribe: () => end((atMs) => ({ type: 'left', atMs })),
    };
  }

  function recording(): Recording {
    if (trouble !== undefined) throw new GatewayError(`the recording is not complete: ${messageOf(trouble.cause)}`, trouble);
    return { version: 1, text, sources: [...sources.values()], requests: notes.map((note) => note.request()) };
  }

  return {
    wrapSource(source, { scheduler = asyncScheduler } = {}) {
      sources.set(source.id, factsOf(source));
      const stream: Source['stream'] = (request, context) => defer(() => defer(() => source.stream(request, context)).pipe(tap(observer(source, request, scheduler))));
      return { ...source, stream };
    },
    get recording() {
      return recording();
    },
    save(file) {
      const written = stringifyRecording(recording());
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, written);
    },
  };
}

/** What is known of a source, without what an implementation has beside it. */
function factsOf({ id, provider, model, limits, ...others }: Source): RecordedSource {
  const { maxConcurrency, rpm, tpm, priority, weight } = others;
  const optional = Object.fromEntries(Object.entries({ maxConcurrency, rpm, tpm, priority, weight }).filter(([, value]) => value !== undefined));
  return { id, provider, model, limits: { ...limits }, ...optional };
}
