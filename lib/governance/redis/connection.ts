import { Observable, catchError, defer, map, merge, switchMap, take, tap, throwError, timeout } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { GovernanceBackendError, messageOf } from '../../model/errors.js';
import type { Report } from '../../model/events.js';
import { maskSecrets } from '../../model/mask.js';
import type { RedisTarget } from '../../model/redisTarget.js';
import { openRedis } from './openRedis.js';
import type { RedisClient } from './openRedis.js';
import { ageScript, enterScript, parkScript, progressScript, renewScript, settleScript } from './scripts.js';

const scripts = { enter: enterScript, progress: progressScript, settle: settleScript, renew: renewScript, park: parkScript, age: ageScript };

export type ScriptName = keyof typeof scripts;

export interface RedisConnection {
  /**
   * Runs a script on the keys of one source: cold, one answer, or `GovernanceBackendError` within `limitMs`. It is said once;
   * only a script that the server does not know any more is said again, with its text.
   */
  run<R>(script: ScriptName, keys: readonly string[], ask: Readonly<Record<string, unknown>>): Observable<R>;
  /** Emits when the connection is there, and each time it is there again. */
  readonly ready$: Observable<void>;
  close(): void;
}

export interface ConnectionOptions {
  readonly target: RedisTarget;
  readonly scheduler: SchedulerLike;
  readonly report: Report;
  /** A decision that takes longer is none (G6). */
  readonly limitMs: number;
  /** Only for tests: the time that scripts go by instead of the server's. */
  readonly serverNow?: (() => number) | undefined;
}

type Scripted = Record<string, (...args: readonly string[]) => Promise<string>>;

/** Connects in the background; tells of the first trouble and of its end, not of every command that failed. */
export function openConnection({ target, scheduler, report, limitMs, serverNow }: ConnectionOptions): RedisConnection {
  const client = openRedis(target);
  const where = target.hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
  let trouble = '';
  let away = false;
  for (const [name, lua] of Object.entries(scripts)) client.defineCommand(commandOf(name), { lua, numberOfKeys: 7 });
  client.on('error', (error: unknown) => { trouble = messageOf(error); });
  // As many listen as wait for it.
  client.setMaxListeners(0);

  function noteAway(error: unknown): GovernanceBackendError {
    const message = maskSecrets(`Redis at ${where} gave no decision: ${whyNot(error, trouble, limitMs)}`);
    if (!away) report({ type: 'backend-changed', state: 'away', message });
    away = true;
    return new GovernanceBackendError(message, { cause: error });
  }

  function noteBack(): void {
    if (away) report({ type: 'backend-changed', state: 'back', message: `Redis at ${where} decides again` });
    away = false;
    trouble = '';
  }

  return {
    run: <R>(script: ScriptName, keys: readonly string[], ask: Readonly<Record<string, unknown>>) =>
      defer(() => {
        const text = JSON.stringify(serverNow === undefined ? ask : { ...ask, nowMs: serverNow() });
        const said$ = defer(async () => (client as unknown as Scripted)[commandOf(script)]?.(...keys, text) ?? '{}');
        // Whoever has left by the time that the connection is there says nothing any more.
        return client.status === 'ready' ? said$ : whenReady(client).pipe(switchMap(() => said$));
      }).pipe(
        timeout({ first: limitMs, scheduler }),
        tap({ next: noteBack }),
        map((answer) => JSON.parse(answer) as R),
        catchError((error: unknown) => throwError(() => noteAway(error))),
      ),
    ready$: eventsOf(client, 'ready'),
    close: () => client.disconnect(),
  };
}

const commandOf = (script: string): string => `polygateway${script}`;

/** Waits while a connection is being made; where there is none, there is nothing to wait for. */
function whenReady(client: RedisClient): Observable<void> {
  if (!['wait', 'connecting', 'connect'].includes(client.status)) return throwError(() => new Error('it is not connected'));
  const closed$ = eventsOf(client, 'close').pipe(map(() => { throw new Error('it cannot be connected'); }));
  return merge(eventsOf(client, 'ready'), closed$).pipe(take(1));
}

function eventsOf(client: RedisClient, name: 'ready' | 'close'): Observable<void> {
  return new Observable((subscriber) => {
    const listener = (): void => subscriber.next();
    client.on(name, listener);
    return () => client.off(name, listener);
  });
}

function whyNot(error: unknown, trouble: string, limitMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${limitMs} ms`;
  return trouble === '' ? messageOf(error) : `${messageOf(error)} (${trouble})`;
}
