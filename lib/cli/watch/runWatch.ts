import { endWith, fromEvent, ignoreElements, interval, lastValueFrom, map, merge, scan, share, take, takeUntil, takeWhile, tap, throttleTime } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { monotonicScheduler } from '../../clock/monotonicScheduler.js';
import type { WatchMessage } from '../../telemetry/watch/watchMessage.js';
import { liveStage } from '../demo/stage.js';
import { exitCodes } from '../exitCodes.js';
import { plain } from '../plain.js';
import type { Terminal } from '../terminal.js';
import { findSocket } from './findSocket.js';
import { keys } from './keys.js';
import { NothingToWatch } from './nothingToWatch.js';
import type { Key } from './keys.js';
import { viewLines } from './viewLines.js';
import { watchMessages } from './watchMessages.js';
import { emptyView, eventLine, grownView } from './watchView.js';
import type { WatchView } from './watchView.js';

export interface WatchOptions {
  /** The socket; else the one that `scope` and `pid` mean. */
  readonly address: string | undefined;
  readonly scope: string | undefined;
  readonly pid: number | undefined;
  readonly json: boolean;
  readonly once: boolean;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

const redrawEveryMs = 200;
const interruptedCode = 130;

/** Shows what a running process does, until it ends or the user has seen enough. */
export async function runWatch({ address, scope, pid, json, once, terminal, signal }: WatchOptions): Promise<number> {
  const { out, env } = terminal;
  const messages$ = watchMessages(address ?? (await findSocket({ scope, pid, env }))).pipe(takeUntil(fromEvent(signal, 'abort')));
  if (once) return printOnce(messages$, json, terminal);
  if (json) return printAll(messages$, terminal);
  return out.isTerminal && env['TERM'] !== 'dumb' ? live(messages$, terminal, signal) : printEvents(messages$, terminal, signal);
}

/** The first snapshot. */
async function printOnce(messages$: Observable<WatchMessage>, json: boolean, { out }: Terminal): Promise<number> {
  const view = await lastValueFrom(messages$.pipe(viewed(), takeWhile(({ state }) => state === undefined, true)), { defaultValue: emptyView });
  const { hello, state } = view;
  if (state === undefined) throw new NothingToWatch('the process ended before it showed anything');
  if (json) out.line(JSON.stringify({ hello, state }, null, 2));
  else for (const line of viewLines(view, { columns: out.columns, paint: out.paint })) out.line(line);
  return exitCodes.done;
}

/** Every message as it comes, one a line. */
async function printAll(messages$: Observable<WatchMessage>, { out }: Terminal): Promise<number> {
  await lastValueFrom(messages$.pipe(tap({ next: (message) => out.line(JSON.stringify(message)) })), { defaultValue: undefined });
  return exitCodes.done;
}

/** In words what is out of the ordinary, one a line. */
async function printEvents(messages$: Observable<WatchMessage>, { out }: Terminal, signal: AbortSignal): Promise<number> {
  const print = (view: WatchView, message: WatchMessage): WatchView => {
    if (message.type === 'hello') out.line(plain(`watching ${message.scope}, pid ${message.pid} on ${message.host}; --json has every event`));
    const line = message.type === 'event' && view.hello !== undefined ? eventLine(view.hello, message.event) : undefined;
    if (line !== undefined) out.line(line);
    return grownView(view, message, 0);
  };
  const view = await lastValueFrom(messages$.pipe(scan(print, emptyView)), { defaultValue: emptyView });
  if (!signal.aborted) out.line(endWords(view));
  return exitCodes.done;
}

/** A picture that moves. */
async function live(messages$: Observable<WatchMessage>, { out, input }: Terminal, signal: AbortSignal): Promise<number> {
  const stage = liveStage(out);
  let pressed: Key | undefined;
  const pressed$ = keys(input).pipe(take(1), tap({ next: (key) => (pressed = key) }));
  const shared$ = messages$.pipe(takeUntil(pressed$), share());
  // So that a process that says nothing is seen to say nothing.
  const seconds$ = interval(1000).pipe(map(() => undefined), takeUntil(shared$.pipe(ignoreElements(), endWith(undefined))));
  const draw = (view: WatchView): void => stage.show(viewLines(view, { columns: out.columns, rows: rowsOf(out.stream) - 1, paint: out.paint }));
  const views$ = merge(seconds$, shared$).pipe(viewed(), throttleTime(redrawEveryMs, undefined, { leading: true, trailing: true }), tap({ next: draw }));
  const last = await lastValueFrom(views$, { defaultValue: emptyView }).finally(stage.close);
  if (pressed === undefined && !signal.aborted) out.line(endWords(last));
  return pressed === 'interrupt' ? interruptedCode : exitCodes.done;
}

function viewed(): OperatorFunction<WatchMessage | undefined, WatchView> {
  return scan((view, message) => grownView(view, message, monotonicScheduler.now()), emptyView);
}

function endWords({ hello, closed }: WatchView): string {
  const pid = hello?.pid ?? 'unknown';
  return closed ? `the gateway of process ${pid} was closed` : `process ${pid} has ended, or has let go of a viewer that was too slow`;
}

function rowsOf({ rows }: NodeJS.WriteStream): number {
  return rows > 0 ? rows : 24;
}
