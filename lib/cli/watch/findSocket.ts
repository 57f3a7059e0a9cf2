import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeStale } from '../../telemetry/watch/listenAt.js';
import { folderProblem, parseSocketName, watchFolders } from '../../telemetry/watch/watchAddress.js';
import type { SocketName } from '../../telemetry/watch/watchAddress.js';
import { WrongUse } from '../wrongUse.js';
import { NothingToWatch } from './nothingToWatch.js';

export interface SocketWish {
  readonly scope: string | undefined;
  readonly pid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Found extends SocketName {
  readonly path: string;
}

const mostNamed = 8;

/** The one socket that is meant. Clears away what dead processes have left. Rejects with what to write where there is none, or more than one. */
export async function findSocket({ scope, pid, env }: SocketWish): Promise<string> {
  const folders = [...new Set(watchFolders(env))];
  const problems = folders.flatMap((folder) => folderProblem(folder) ?? []);
  const all = await liveSockets(folders.filter((folder) => folderProblem(folder) === undefined));
  const meant = all.filter((found) => (scope === undefined || found.scope.toLowerCase() === scope.toLowerCase()) && (pid === undefined || found.pid === pid));
  const [only, ...others] = meant;
  if (only === undefined) throw new NothingToWatch(all.length === 0 ? (problems[0] ?? 'no process lets itself be watched') : `none of this scope or pid can be watched, only ${named(all)}`);
  if (others.length > 0) throw new WrongUse(`${meant.length} can be watched, name one: ${named(meant)}`);
  return only.path;
}

async function liveSockets(folders: readonly string[]): Promise<Found[]> {
  const found = folders.flatMap((folder) => namesIn(folder).flatMap((file) => ({ path: join(folder, file), ...parseSocketName(file) })));
  const live = await Promise.all(found.map(async (socket) => (isNamed(socket) && !(await removeStale(socket.path)) ? [socket] : [])));
  return live.flat().sort((a, b) => a.scope.localeCompare(b.scope) || a.pid - b.pid);
}

function isNamed(found: { path: string } & Partial<SocketName>): found is Found {
  return found.pid !== undefined;
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function named(sockets: readonly Found[]): string {
  const more = sockets.length > mostNamed ? ` and ${sockets.length - mostNamed} more` : '';
  return sockets.slice(0, mostNamed).map((socket) => nameOf(socket, sockets)).join(', ') + more;
}

/** As it is to be written: several gateways of one process are told apart by their sockets alone. */
function nameOf({ scope, pid, path }: Found, all: readonly Found[]): string {
  const same = all.filter((other) => other.pid === pid && other.scope === scope);
  return same.length > 1 ? path : `--scope ${scope} --pid ${pid}`;
}
