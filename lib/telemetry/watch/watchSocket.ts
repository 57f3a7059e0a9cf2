import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join, resolve } from 'node:path';
import { codeOf, messageOf } from '../../model/errors.js';
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
  const opened = open(server, { place, scope }).catch((error: unknown) => {
    report({ type: 'telemetry-trouble', message: `this process cannot be watched, calls go on: ${messageOf(error)}; set TELEMETRY__WATCH to another path, or leave it out`, lost: 0 });
  });
  return {
    async close() {
      await opened;
      server.close();
      audience.close();
    },
  };
}

async function open(server: Server, { place, scope }: Pick<WatchSocketOptions, 'place' | 'scope'>): Promise<void> {
  // Told no earlier than somebody can listen to what goes wrong.
  await Promise.resolve();
  if (place !== 'auto') return listenAt(server, process.platform === 'win32' ? place : resolve(place));
  const folder = process.platform === 'win32' ? '\\\\.\\pipe' : ownFolder();
  const names = Array.from({ length: mostGateways }, (_, at) => socketName({ scope, pid: process.pid }, at + 1));
  for (const name of names) {
    try {
      await listenAt(server, join(folder, process.platform === 'win32' ? `polygateway-${name}` : name));
      return;
    } catch (error: unknown) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
  throw new Error(`${mostGateways} gateways of the scope ${scope} are watched in this process already`);
}
