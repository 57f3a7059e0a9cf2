import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** A socket of `auto` says in its name whose it is. */
export interface SocketName {
  readonly scope: string;
  readonly pid: number;
}

const suffix = '.sock';

/** Where `auto` puts its sockets, best first: a viewer looks into both, since a service may know no XDG_RUNTIME_DIR. */
export function watchFolders(env: Env = process.env): string[] {
  const runtime = env['XDG_RUNTIME_DIR'];
  const parents = runtime === undefined || runtime === '' ? [tmpdir()] : [runtime, tmpdir()];
  return parents.map((parent) => join(parent, `polygateway-${userId()}`));
}

/** The folder for a socket of this process, made if need be. Throws where somebody else could look into it. */
export function ownFolder(env: Env = process.env): string {
  const [first = '', second = first] = watchFolders(env);
  const folder = isFolder(dirname(first)) ? first : second;
  mkdirSync(folder, { mode: 0o700, recursive: true });
  const problem = folderProblem(folder);
  if (problem !== undefined) throw new Error(problem);
  return folder;
}

/** Why a folder is not ours alone; `undefined` if it is, or is not there. */
export function folderProblem(folder: string): string | undefined {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  // Nor a link that somebody else has laid out for us.
  if (!found.isDirectory()) return `${folder} is no folder`;
  if (found.uid !== (process.getuid?.() ?? found.uid)) return `${folder} belongs to somebody else`;
  return (found.mode & 0o077) === 0 ? undefined : `${folder} is open to others (chmod 700 helps)`;
}

/** Several gateways of one scope in one process count on: `LLM-12.sock`, `LLM-12-2.sock`. */
export function socketName({ scope, pid }: SocketName, count = 1): string {
  return `${scope}-${pid}${count === 1 ? '' : `-${count}`}${suffix}`;
}

export function parseSocketName(file: string): SocketName | undefined {
  const [, scope, pid] = /^([A-Za-z][\w-]*?)-(\d+)(?:-\d)?\.sock$/.exec(file) ?? [];
  return scope === undefined ? undefined : { scope, pid: Number(pid) };
}

function userId(): number | string {
  return process.getuid?.() ?? userInfo().username;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
