import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { WatchHello, WatchMessage, WatchState } from '../../lib/telemetry/watch/watchMessage.js';
import type { WatchEvent } from '../../lib/telemetry/watch/watchEvent.js';

/** Somebody who watches, and all that he was told. */
export interface Viewer {
  readonly socket: Socket;
  readonly text: () => string;
  readonly messages: () => WatchMessage[];
  readonly hello: () => WatchHello | undefined;
  readonly states: () => WatchState[];
  readonly events: () => WatchEvent[];
  readonly gone: () => boolean;
}

export function view(path: string): Viewer {
  const socket = connect(path);
  let text = '';
  let gone = false;
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined).on('close', () => (gone = true));
  const messages = (): WatchMessage[] => text.split('\n').slice(0, -1).map((line) => JSON.parse(line) as WatchMessage);
  return {
    socket,
    text: () => text,
    messages,
    hello: () => messages().find((message) => message.type === 'hello'),
    states: () => messages().filter((message) => message.type === 'state'),
    events: () => messages().flatMap((message) => (message.type === 'event' ? [message.event] : [])),
    gone: () => gone,
  };
}
