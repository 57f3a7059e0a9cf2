import { Observable, catchError, defer, identity, map, merge, share, switchMap, take, tap, throwError, timeout } from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike } from 'rxjs';
import { GovernanceBackendError, messageOf } from '../../model/errors.js';
import type { Report } from '../../model/events.js';
import { maskSecrets } from '../../model/mask.js';
import type { RedisTarget } from '../../model/redisTarget.js';
import { openRedis } from './openRedis.js';
import type { RedisClient } from './openRedis.js';
import { keyCount } from './sourceKeys.js';
import { ageScript, enterScript, lateScript, parkScript, progressScript, renewScript, settleScript } from './scripts.js';

const scripts = { enter: enterScript, late: lateScript, progress: progressScript, settle: settleScript, renew: renewScript, park: parkScript, age: ageScript };

/** A script to run on the keys of one source. */
export interface Word {
  readonly script: keyof typeof scripts;
  readonly keys: readonly string[];
  readonly ask: Readonly<Record<string, unknown>>;
  /** Whoever asks waits no longer for the answer; default: until the connection it was said on has ended. */
  readonly limitMs?: number;
  /** It has been said: from here on it may be heard, whatever becomes of the answer. */
  readonly onSaid?: () => void;
}

export interface RedisConnection {
  /**
   * Cold, one answer, or `GovernanceBackendError`. It is said once; only a script that the server does not know any more is
   * said again, with its text.
   */
  run<R>(word: Word): Observable<R>;
  /** Gives up what takes longer, as no decision; so much earlier where it is to be the first to say so. */
  within<T>(limit: { readonly limitMs: number; readonly earlierMs?: number }): MonoTypeOperatorFunction<T>;
  /** Emits when the connection is there, and each time it is there again. */
  readonly ready$: Observable<void>;
  close(): void;
}

export interface ConnectionOptions {
  readonly target: RedisTarget;
  readonly scheduler: SchedulerLike;
  readonly report: Report;
  /** Only for tests: the time that scripts go by instead of the server's. */
  readonly serverNow?: (() => number) | undefined;
}

type Scripted = Record<string, (...args: readonly string[]) => Promise<string>>;

/** So long after the last word a connection that was lost is made again by itself; after that, by the next word. */
const wantedMs = 2000;
/** One outage is one story, and a server that is slow by turns is no more than one. */
const quietMs = 30_000;

/** Connects in the background; tells of the first trouble and of its end, not of every command that failed. */
export function openConnection({ target, scheduler, report, serverNow }: ConnectionOptions): RedisConnection {
  let lastWordMs = scheduler.now();
  const client = openRedis(target, { isWanted: () => scheduler.now() - lastWordMs < wantedMs });
  const where = target.hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
  let trouble = '';
  let away = false;
  let isClosed = false;
  let toldMs = -Infinity;
  for (const [name, lua] of Object.entries(scripts)) client.defineCommand(commandOf(name), { lua, numberOfKeys: keyCount });
  client.on('error', (error: unknown) => { trouble = messageOf(error); });
  const ready$ = eventsOf(client, 'ready').pipe(share());
  const closed$ = eventsOf(client, 'close').pipe(share());

  function noteAway(error: unknown): GovernanceBackendError {
    if (error instanceof GovernanceBackendError) return error;
    const message = maskSecrets(`Redis at ${where} gave no decision: ${whyNot(error, trouble)}`, target.password === undefined ? [] : [target.password]);
    if (!away && scheduler.now() - toldMs >= quietMs) {
      away = true;
      toldMs = scheduler.now();
      report({ type: 'backend-changed', state: 'away', message });
    }
    return new GovernanceBackendError(message, { cause: error });
  }

  function noteBack(): void {
    if (away) report({ type: 'backend-changed', state: 'back', message: `Redis at ${where} decides again` });
    away = false;
    trouble = '';
  }

  /** Waits while a connection is being made; where there is none, there is nothing to wait for. */
  function connected(): Observable<unknown> {
    if (client.status === 'end' && !isClosed) client.connect().catch(() => undefined);
    if (!['wait', 'connecting', 'connect'].includes(client.status)) return throwError(() => new Error('it is not connected'));
    return merge(ready$, closed$.pipe(map(() => { throw new Error('it cannot be connected'); }))).pipe(take(1));
  }

  const within = <T>({ limitMs, earlierMs = 0 }: { readonly limitMs: number; readonly earlierMs?: number }): MonoTypeOperatorFunction<T> =>
    limitMs === Infinity ? identity : timeout({ first: limitMs - earlierMs, with: () => throwError(() => noteAway(new Error(`no answer within ${limitMs} ms`))), scheduler });

  return {
    within,
    run: <R>({ script, keys, ask, limitMs = Infinity, onSaid = () => undefined }: Word) =>
      defer(() => {
        lastWordMs = scheduler.now();
        const text = JSON.stringify(serverNow === undefined ? ask : { ...ask, nowMs: serverNow() });
        const said$ = defer(async () => {
          onSaid();
          return (client as unknown as Scripted)[commandOf(script)]?.(...keys, text) ?? '{}';
        });
        // Whoever has left by the time that the connection is there says nothing any more.
        return client.status === 'ready' ? said$ : connected().pipe(switchMap(() => said$));
      }).pipe(
        within({ limitMs }),
        tap({ next: noteBack }),
        map((answer) => JSON.parse(answer) as R),
        catchError((error: unknown) => throwError(() => noteAway(error))),
      ),
    ready$,
    close() {
      isClosed = true;
      client.disconnect();
    },
  };
}

const commandOf = (script: string): string => `polygateway${script}`;

function eventsOf(client: RedisClient, name: 'ready' | 'close'): Observable<void> {
  return new Observable((subscriber) => {
    const listener = (): void => subscriber.next();
    client.on(name, listener);
    return () => client.off(name, listener);
  });
}

function whyNot(error: unknown, trouble: string): string {
  return trouble === '' ? messageOf(error) : `${messageOf(error)} (${trouble})`;
}
