import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server } from 'node:net';
import { codeOf } from '../../model/errors.js';

/** Opens a server at a path for this user alone; takes the place of a socket that a dead process has left. Rejects if it cannot. */
export async function listenAt(server: Server, path: string): Promise<void> {
  try {
    await listen(server, path);
  } catch (error: unknown) {
    if (codeOf(error) !== 'EADDRINUSE' || !(await removeStale(path))) throw error;
    await listen(server, path);
  }
}

/** Removes a socket that nobody listens to; never anything else. */
export async function removeStale(path: string): Promise<boolean> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true || (await isServed(path))) return false;
  unlinkSync(path);
  return true;
}

async function listen(server: Server, path: string): Promise<void> {
  // A worker of a cluster would else leave the socket to its primary.
  server.listen({ path, exclusive: true });
  // The path is bound by now, if at all. A pipe of Windows has no mode.
  if (server.listening && process.platform !== 'win32') chmodSync(path, 0o600);
  await once(server, 'listening');
}

/** Whether a process answers there; whether its number is in use says less, since numbers are used again. */
async function isServed(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error: unknown) {
    return codeOf(error) !== 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
