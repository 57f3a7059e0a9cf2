import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { asyncScheduler, defer, tap } from 'rxjs';
import type { SchedulerLike, TapObserver } from 'rxjs';
import type { ChatDelta } from '../../model/delta.js';
import { ConfigError, GatewayError, messageOf } from '../../model/errors.js';
import type { ValidRequest } from '../../model/request.js';
import type { Source } from '../../model/source.js';
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
  /** How many requests are kept: the oldest go first. Default: no limit. */
  readonly maxRequests?: number;
}

/** Notes what sources say, and when. */
export interface Recorder {
  /**
   * The same source, recorded from now on; for `createGateway`, whose clock it takes. Throws `ConfigError` for a second source of
   * the same id: each gateway needs a recorder of its own.
   */
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
 * `text: false` keeps times, lengths, types of deltas, usage, finish reasons and codes of one word, and names of models; each text,
 * id, name and argument of a tool and message of an error is a run of `x` as long as it was, `logprobs` and unknown fields are empty,
 * and an error's name is `Error` unless it is a common one. Addresses and keys of sources are not kept; in messages of errors and in
 * what was asked, whatever looks like a key is `[masked]`; what was said stays as it is. Deltas of unknown types are left out.
 * Everything is in memory until the recorder is let go: `maxRequests` is for one that is left on. Where a slow reader held a
 * passed-on answer, the wait is in its times. Throws `ConfigError` for `request: true` with `text: false`, and where `maxRequests`
 * is no whole number from 1.
 *
 *     const recorder = createRecorder();
 *     const gateway = createGateway({ settings, wrapSource: recorder.wrapSource });
 *     await gateway.chat(request);
 *     recorder.save('fixtures/slowStart.json');
 */
export function createRecorder({ text = true, request: keepsRequest = false, maxRequests = Infinity }: RecorderOptions = {}): Recorder {
  if (keepsRequest && !text) throw new ConfigError(['createRecorder was told request: true, which keeps what was said, and text: false, which forbids it: leave one of them out']);
  if (!(maxRequests >= 1 && (maxRequests === Infinity || Number.isInteger(maxRequests)))) throw new ConfigError([`createRecorder was told maxRequests: ${maxRequests}, which must be a whole number from 1; without it all are kept`]);
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
        note = openNote({ source, request, scheduler, keepsRequest });
        if (notes.push(note) > maxRequests) notes.shift();
      }),
      next: (delta) => safely(() => {
        const blanked = withoutText(delta);
        if (blanked !== undefined) note?.add(text ? delta : blanked);
      }),
      error: (thrown: unknown) => end((atMs) => ({ type: 'failed', atMs, error: toRecordedError(thrown, { text }) })),
      complete: () => end((atMs) => ({ type: 'completed', atMs })),
      unsubscribe: () => end((atMs) => ({ type: 'left', atMs })),
    };
  }

  function recording(): Recording {
    if (trouble !== undefined) throw new GatewayError(`the recording is not complete: ${messageOf(trouble.cause)}`, trouble);
    return { version: 1, text, sources: [...sources.values()], requests: notes.map((note, _nth, [first = note]) => note.request(first.startMs)) };
  }

  return {
    wrapSource(source, { scheduler = asyncScheduler } = {}) {
      const facts = factsOf(source);
      if (sources.has(facts.id)) throw new ConfigError([`the recorder has a source "${facts.id}" already, and would mix the requests of both: make a recorder for each gateway`]);
      sources.set(facts.id, facts);
      const stream: Source['stream'] = (request, context) => defer(() => defer(() => source.stream(request, context)).pipe(tap(observer(source, request, scheduler))));
      // Of a class with getters nothing would be spread.
      return { ...source, ...facts, limits: source.limits, stream };
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
function factsOf(source: Source): RecordedSource {
  const { id, provider, model, limits: { timeoutMs, ttftTimeoutMs, interTokenTimeoutMs }, maxConcurrency, rpm, tpm, priority, weight } = source;
  return { id, provider, model, limits: limitsIn({ timeoutMs, ttftTimeoutMs, interTokenTimeoutMs }), ...limitsIn({ maxConcurrency, rpm, tpm, priority, weight }) };
}

/** Those that there are: an endless one is none, and JSON has no word for it. */
function limitsIn<K extends string>(figures: Readonly<Record<K, number | undefined>>): Partial<Record<K, number>> {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => Number.isFinite(value))) as Partial<Record<K, number>>;
}
