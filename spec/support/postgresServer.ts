import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, chownSync, constants, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './freePort.js';
import { startGuardedProcess } from './guardedProcess.js';
import type { GuardedProcess } from './guardedProcess.js';
import { until } from './until.js';

/** A Postgres of one's own on the loopback. */
export interface PostgresServer {
  /** Of the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** Of the running process: another one after `restart`. */
  readonly pid: number;
  /** Makes a database and gives its address. */
  createDatabase(name?: string): Promise<string>;
  /** Ends it, which closes every connection, and keeps what it stored. */
  shutDown(): Promise<void>;
  /** Starts it again at the same port, ending it first if it runs. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
  /** Gives a folder or file to the user that the server runs as. */
  giveTo(path: string): void;
}

export interface PostgresOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** PEM; with them the server takes connections with TLS too. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** The databases of one spec file on a server that others use too. */
export interface SharedPostgres {
  createDatabase(name?: string): Promise<string>;
  /** Drops the databases that were made, unless their server goes with the run, and stops the server if it was started for them. */
  stop(): Promise<void>;
}

interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const advice =
  'Install it (apt-get install -y postgresql), or set POSTGRES_URL to the address of a Postgres whose user may create databases; specs that restart or fill one need the binaries.';

/** What a server that was started for a run is called. */
const clusterName = 'polygateway-specs';
const quickSettings = { cluster_name: clusterName, fsync: 'off', full_page_writes: 'off', shared_buffers: '16MB', unix_socket_directories: '', listen_addresses: '127.0.0.1' };

/** Starts a Postgres that ends with this process; fails with the install command where there is none. */
export async function startPostgres({ settings = {}, tls }: PostgresOptions = {}): Promise<PostgresServer> {
  const bin = findBinaries();
  const user = serverUser();
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-postgres-'));
  const giveTo = (path: string): void => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  giveTo(folder);
  const flags = Object.entries({ ...quickSettings, ...tlsSettings(folder, tls, giveTo), ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = asUser(user, [join(bin, 'postgres'), '-D', join(folder, 'data'), '-p', String(port), ...flags]);
  const start = (): Promise<GuardedProcess> => startGuardedProcess({ ...command, folder, advice, ready: /ready to accept connections/, timeoutMs: 60_000 });
  let running: GuardedProcess;
  try {
    await makeCluster(bin, folder, user);
    running = await start();
  } catch (error: unknown) {
    await remove();
    throw error;
  }
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const shutDown = async (): Promise<void> => {
    if (!running.ended) process.kill(running.pid, 'SIGINT');
    await until('Postgres has ended', () => Promise.resolve(running.ended)).finally(() => running.kill());
  };
  return {
    url,
    port,
    get pid() {
      return running.pid;
    },
    createDatabase: (name) => createDatabase(url, name),
    shutDown,
    async restart() {
      await shutDown();
      running = await start();
    },
    async stop() {
      await shutDown();
      await remove();
    },
    giveTo,
  };
}

/** Uses the server that POSTGRES_URL names, and starts one where it names none. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const given = process.env['POSTGRES_URL'] ?? '';
  const own = given === '' ? await startPostgres() : undefined;
  const url = own?.url ?? given;
  const made: string[] = [];
  return {
    async createDatabase(name) {
      const address = await createDatabase(url, name);
      made.push(address);
      return address;
    },
    async stop() {
      if (own) return own.stop();
      if (await goesWithTheRun(url)) return;
      for (const address of made.splice(0)) await query(url, `DROP DATABASE IF EXISTS ${databaseOf(address)} WITH (FORCE)`);
    },
  };
}

/** Runs statements on a connection of their own; gives the rows of the last one. */
export async function query<Row extends pg.QueryResultRow = pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const results: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client.query<Row>(sql);
    return [results].flat().at(-1)?.rows ?? [];
  } finally {
    await client.end();
  }
}

async function goesWithTheRun(url: string): Promise<boolean> {
  const [row] = await query<{ cluster_name: string }>(url, 'SHOW cluster_name');
  return row?.cluster_name === clusterName;
}

async function createDatabase(url: string, name = `spec_${randomUUID().replaceAll('-', '')}`): Promise<string> {
  await query(url, `CREATE DATABASE ${name}`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

async function makeCluster(bin: string, folder: string, user: User | undefined): Promise<void> {
  const args = ['-D', join(folder, 'data'), '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await promisify(execFile)(join(bin, 'initdb'), args, { cwd: folder, ...(user && { uid: user.uid, gid: user.gid }) });
}

/** Replaced by the server itself, so that its process id is the one that was started. */
function asUser(user: User | undefined, [command = '', ...args]: readonly string[]): { command: string; args: readonly string[] } {
  if (user === undefined) return { command, args };
  return { command: 'setpriv', args: [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--', command, ...args] };
}

/** Whom a server started by root runs as, since Postgres refuses to be root; it must be known by name. */
function serverUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const known = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = known.find(([entry]) => entry === wanted) ?? [];
    if (name !== undefined) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('Postgres does not run as root, and there is no user postgres or nobody: run the specs as another user, or set POSTGRES_URL.');
}

function findBinaries(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...packagedFolders('/usr/lib/postgresql')];
  const found = folders.find((folder) => folder !== '' && ['initdb', 'postgres'].every((name) => isExecutable(join(folder, name))));
  if (found === undefined) throw new Error(`There is no Postgres here. ${advice}`);
  return found;
}

/** Where Debian keeps them, newest first. */
function packagedFolders(root: string): string[] {
  try {
    return readdirSync(root).sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function tlsSettings(folder: string, tls: PostgresOptions['tls'], giveTo: (path: string) => void): Record<string, string> {
  if (tls === undefined) return {};
  const files = { ssl_key_file: tls.key, ssl_cert_file: tls.cert };
  const written = Object.entries(files).map(([name, pem]) => {
    const path = join(folder, name);
    writeFileSync(path, pem, { mode: 0o600 });
    giveTo(path);
    return [name, path] as const;
  });
  return { ssl: 'on', ...Object.fromEntries(written) };
}
