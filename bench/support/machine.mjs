import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { peersFolder, repository } from './places.mjs';
export { watchOthers } from './watchOthers.mjs';

export const facts = () => ({ node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, versions: process.versions });

/** The machine, and the versions of `packages` as they are measured: a peer from the peers' folder, else from the repository. */
export function describe(packages = []) {
  const { node, cpu, cores, versions } = facts();
  const found = packages.map((name) => `${name} ${versionOf(name)}`);
  return [
    `- Node ${node} (V8 ${versions.v8}, libuv ${versions.uv}), ${cores} × ${cpu}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${type()} ${release()}`,
    `- ${[`polygateway ${ownVersion()}`, ...found].join(', ')}`,
  ].join('\n');
}

function versionOf(name) {
  const places = [peersFolder, repository].map((folder) => join(folder, 'node_modules', name, 'package.json'));
  const place = places.find(existsSync);
  return place === undefined ? 'not installed' : JSON.parse(readFileSync(place, 'utf8')).version;
}

function ownVersion() {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const build = process.env.POLYGATEWAY_DIST === undefined ? '' : `, build in ${process.env.POLYGATEWAY_DIST}`;
  return `${version}${commit()}${build}`;
}

function commit() {
  try {
    const git = (...words) => execFileSync('git', words, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return ` (${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'lib') === '' ? '' : ' and changes'})`;
  } catch {
    return '';
  }
}
