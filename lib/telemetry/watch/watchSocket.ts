import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join, resolve } from 'node:path';
import { messageOf } from '../../model/errors.js';
import type { Report } from '../../model/events.js';
import { createAudience } from './audience.js';
import type { AudienceOptions } from './audience.js';
import { listenAt } from './listenAt.js';
import { ownFolder, socketName } from './watchAddress.js';

export interface WatchSocketOptions extends AudienceOptions {
  /** `auto`, or a path. */
  readonly place: string;
  readonly scope: string;
  readonly report: Report;
}

export interface WatchSocket {
  /** Sends viewers away and removes the socket. Never rejects. */
  close(this: void): Promise<void>;
}

const mostGateways = 9;
const mostViewers = 16;

/**
 * Lets `polygateway watch` look into this process: snapshots and events as lines of JSON over a local socket, for this user
 * alone. Never throws, and keeps no process alive; where it cannot listen a `telemetry-trouble` event says so.
 */
export function openWatchSocket({ place, scope, report, ...of }: WatchSocketOptions): WatchSocket {
  const audience = createAudience(of);
  const server = createServer(audience.add).unref();
  server.maxConnections = mostViewers;
  // Why it could not listen is told below; that a viewer could not be let in is his affair.
  server.on('error', () => undefined);
  const opened = open(server, { place, scope }).catch((error: unknown): undefined => {
    report({ type: 'telemetry-trouble', message: `this process cannot be watched, calls go on: ${messageOf(error)}; set TELEMETRY__WATCH to another path, or leave it out`, lost: 0 });
  });
  return {
    async close() {
      const remove = await opened;
      server.close();
      remove?.();
      audience.close();
    },
  };
}

/** Gives what removes the socket. */
async function open(server: Server, { place, scope }: Pick<WatchSocketOptions, 'place' | 'scope'>): Promise<() => void> {
  // Told no earlier than somebody can listen to what goes wrong.
  await Promise.resolve();
  if (process.platform === 'win32') throw new Error('there are no such sockets on Windows');
  if (place !== 'auto') return listenAt(server, [resolve(place)]);
  const folder = ownFolder();
  const pathOf = (count: number): string => join(folder, socketName({ scope, pid: process.pid }, count));
  return listenAt(server, [pathOf(1), ...Array.from({ length: mostGateways - 1 }, (_, at) => pathOf(at + 2))]);
}
