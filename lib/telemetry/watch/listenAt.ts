import { chmodSync, linkSync, lstatSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { codeOf } from '../../model/errors.js';

let drafts = 0;

/**
 * Opens a server for this user alone at the first of these paths, all in one folder, that is free; one that a dead process has
 * left is. Gives what removes the socket. Rejects if it cannot.
 */
export async function listenAt(server: Server, paths: readonly [string, ...string[]]): Promise<() => void> {
  // Under a name of its own first: nobody may come in before the mode is right, and the server itself removes no other name.
  const draft = join(dirname(paths[0]), `.${process.pid}-${(drafts += 1)}`);
  // A worker of a cluster would else leave the socket to its primary.
  server.listen({ path: draft, exclusive: true });
  await once(server, 'listening');
  try {
    chmodSync(draft, 0o600);
    for (const path of paths) {
      if (await claimed(path, draft)) return removerOf(path);
    }
    throw new Error(`${paths.at(-1)} is taken`);
  } catch (error: unknown) {
    server.close();
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a socket that nobody listens to; never anything else. */
export async function removeStale(path: string): Promise<boolean> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSocket() !== true || (await isServed(path))) return false;
  const aside = `${path}.${process.pid}-${(drafts += 1)}`;
  renameSync(path, aside);
  // Somebody who lives may have taken the place meanwhile.
  if (lstatSync(aside).ino !== found.ino) linkSync(aside, path);
  unlinkSync(aside);
  return true;
}

/** Gives the socket this name too, if it is free. */
async function claimed(path: string, draft: string): Promise<boolean> {
  return linked(path, draft) || ((await removeStale(path)) && linked(path, draft));
}

function linked(path: string, draft: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error: unknown) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function removerOf(path: string): () => void {
  const { ino } = lstatSync(path);
  return () => {
    if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path);
  };
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
