import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../../spec/package/freePort.mjs';

/** A Postgres of its own on a free port, with the settings it comes with; `undefined` where there is none on this machine. */
export async function startPostgres() {
  const bin = binaries();
  if (bin === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-postgres-'));
  const data = join(folder, 'data');
  // Postgres refuses to be root; Debian's package makes a user for it.
  const asUser = process.getuid() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--'] : [];
  if (asUser.length > 0) execFileSync('chown', ['postgres:postgres', folder]);
  run([...asUser, join(bin, 'initdb'), '-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync'], folder);
  const port = await freePort();
  const [command, ...args] = [...asUser, join(bin, 'postgres'), '-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
  const server = spawn(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const end = () => {
    server.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  process.once('exit', end);
  await new Promise((resolve, reject) => {
    server.stderr.on('data', (text) => { if (/ready to accept connections/.test(text)) resolve(); });
    server.once('exit', (code) => reject(new Error(`Postgres in ${data} ended with ${code} before it was ready.`)));
  });
  const url = (database) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  return {
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return url(name);
    },
  };
}

function run([command, ...args], cwd) {
  execFileSync(command, args, { cwd, stdio: 'ignore' });
}

/** On the path, or where Debian keeps them, newest first. */
function binaries() {
  const versions = list('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a)).map((version) => join('/usr/lib/postgresql', version, 'bin'));
  return [...process.env.PATH.split(delimiter), ...versions].find((folder) => ['initdb', 'postgres'].every((name) => isExecutable(join(folder, name))));
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
