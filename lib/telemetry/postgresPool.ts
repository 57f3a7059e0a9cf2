import { Socket } from 'node:net';
import { loadPeer, peers } from '../model/loadPeer.js';
import type Pg from 'pg';
import { isOfServer, postgresFailure } from './postgresFailure.js';

export interface PostgresLimits {
  /** Until a connection is ready. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** One statement, on the server. Default 8000. */
  readonly statementTimeoutMs?: number;
  /** One wait for a lock. Default 3000. */
  readonly lockTimeoutMs?: number;
}

export interface PostgresPoolOptions extends PostgresLimits {
  readonly url: string;
}

export type Query = (sql: string, values?: readonly (string | number | null)[]) => Promise<readonly Record<string, unknown>[]>;

export interface PostgresPool {
  /** The database without its user. */
  readonly place: string;
  /** Runs statements in one transaction; rejects with the client's own error after it was undone. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** An error as it may be shown. */
  failure(this: void, error: unknown): Error;
  /** Resolves once every connection is closed. */
  close(): Promise<void>;
  /** Drops every connection, whatever it waits for; the next transaction opens another. */
  abandon(): void;
}

// How much later than the server the client gives up a statement: only if nothing comes back at all.
const answerMs = 1000;
const idleMs = 30_000;

/**
 * At most two connections to a database, opened when needed, let go when idle. They keep the process alive only while a
 * transaction runs. Throws `ConfigError` if `pg` is not installed.
 */
export function createPostgresPool({ url, connectTimeoutMs = 5000, statementTimeoutMs = 8000, lockTimeoutMs = 3000 }: PostgresPoolOptions): PostgresPool {
  const { Pool } = loadPeer(peers.postgres) as typeof Pg;
  const sockets = new Set<Socket>();
  const pool = new Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs + answerMs,
    idleTimeoutMillis: idleMs,
    allowExitOnIdle: true,
    keepAlive: true,
    fallback_application_name: 'polygateway',
    stream: () => opened(sockets),
  });
  // A connection that dies is told by the statement that needs it, or by nobody: without a listener Node would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  // Not sent with the start of a connection, where poolers such as PgBouncer refuse them.
  const begin = `BEGIN; SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL lock_timeout = ${lockTimeoutMs}`;
  const secrets = secretsOf(url);
  const place = placeOf(url);

  return {
    place,
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query(begin);
        const result = await work(async (sql, values = []) => (await client.query<Record<string, unknown>>(sql, [...values])).rows);
        await client.query('COMMIT');
        client.release();
        return result;
      } catch (error: unknown) {
        client.release(!(isOfServer(error) && (await isUndone(client))));
        throw error;
      }
    },
    failure: (error) => postgresFailure(error, place, secrets),
    async close() {
      await pool.end();
      await Promise.all([...sockets].map(closed));
    },
    abandon() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function isUndone(client: Pg.PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

function opened(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}

function closed(socket: Socket): Promise<void> {
  // An idle one was let go of; now the process has to wait for it.
  socket.ref();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** The database without its user. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

function secretsOf(url: string): string[] {
  const { password, searchParams } = new URL(url);
  return [password, decodeURIComponent(password), searchParams.get('password') ?? ''];
}
