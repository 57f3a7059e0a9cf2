import type { Socket } from 'node:net';
import type { Observable, Subscription } from 'rxjs';
import type { GatewayEvent } from '../../model/events.js';
import { watchEvent } from './watchEvent.js';
import type { WatchHello, WatchMessage, WatchState, WatchedStats } from './watchMessage.js';

export interface AudienceOptions {
  readonly hello: () => WatchHello;
  readonly stats: () => WatchedStats;
  readonly events$: Observable<GatewayEvent>;
  readonly now: () => number;
  /** Between two snapshots. Default 200. */
  readonly everyMs?: number;
}

/** Those who watch. While there is nobody no timer runs and nobody listens to events. */
export interface Audience {
  add(this: void, socket: Socket): void;
  /** Says good-bye, for which a slow reader gets a second. */
  close(this: void): void;
}

/** What may wait for a slow reader; then snapshots and events are left out. */
const slowBytes = 256 * 1024;
/** So long without catching up, and the viewer is cut off. */
const mostSlowTurns = 25;
const goodByeMs = 1000;
const mostStreams = 300;

interface Viewer {
  missed: number;
  slowTurns: number;
}

export function createAudience({ hello, stats, events$, now, everyMs = 200 }: AudienceOptions): Audience {
  const viewers = new Map<Socket, Viewer>();
  let timer: NodeJS.Timeout | undefined;
  let listening: Subscription | undefined;

  function add(socket: Socket): void {
    // Neither a viewer nor the wait for one keeps a process alive.
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => remove(socket));
    // A viewer has nothing to say; reading is how its leaving is noticed.
    socket.resume();
    const viewer = { missed: 0, slowTurns: 0 };
    viewers.set(socket, viewer);
    socket.write(line(hello()));
    tell(socket, viewer, stateText());
    start();
  }

  function remove(socket: Socket): void {
    viewers.delete(socket);
    if (viewers.size === 0) stop();
  }

  function start(): void {
    // In real time even where the gateway's clock is virtual: it is for the eyes of a person.
    timer ??= setInterval(tick, everyMs).unref();
    listening ??= events$.subscribe({ next: tellEvent, error: stop, complete: stop });
  }

  function stop(): void {
    clearInterval(timer);
    listening?.unsubscribe();
    timer = listening = undefined;
  }

  function tick(): void {
    const text = stateText();
    for (const [socket, viewer] of viewers) tell(socket, viewer, text);
  }

  /** The same for everybody but the last figure, so it is written once. */
  function stateText(): string {
    return JSON.stringify({ type: 'state', atMs: now(), ...withFewStreams(stats()) }).slice(0, -1);
  }

  function tell(socket: Socket, viewer: Viewer, text: string): void {
    viewer.slowTurns = isSlow(socket) ? viewer.slowTurns + 1 : 0;
    if (viewer.slowTurns === 0) socket.write(`${text},"missed":${viewer.missed}}\n`);
    else if (viewer.slowTurns > mostSlowTurns) socket.destroy();
  }

  function tellEvent(event: GatewayEvent): void {
    const text = line({ type: 'event', event: watchEvent(event) });
    for (const [socket, viewer] of viewers) {
      if (isSlow(socket)) viewer.missed += 1;
      else socket.write(text);
    }
  }

  return {
    add,
    close() {
      stop();
      for (const socket of viewers.keys()) {
        socket.setTimeout(goodByeMs, () => socket.destroy());
        socket.end(line({ type: 'bye' }));
      }
    },
  };
}

/** What a snapshot costs this process must not grow with what it does. */
function withFewStreams({ streams, ...stats }: WatchedStats): WatchedStats & Pick<WatchState, 'unnamed'> {
  if (streams.length <= mostStreams) return { ...stats, streams, unnamed: {} };
  const bySilence = [...streams].sort((a, b) => b.silentMs - a.silentMs);
  const unnamed: Record<string, number> = {};
  for (const { source } of bySilence.slice(mostStreams)) unnamed[source] = (unnamed[source] ?? 0) + 1;
  return { ...stats, streams: bySilence.slice(0, mostStreams), unnamed };
}

function isSlow(socket: Socket): boolean {
  return socket.writableLength > slowBytes;
}

function line(message: WatchMessage): string {
  return `${JSON.stringify(message)}\n`;
}
