// Installs the peers that polygateway is measured against into a scratch folder: the one that POLYGATEWAY_BENCH names, or one beside other
// temporary files.    node bench/install.mjs
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peersFolder } from './support/places.mjs';

const pins = JSON.parse(readFileSync(pinned('package.json'), 'utf8')).dependencies;

mkdirSync(peersFolder, { recursive: true });
for (const file of ['package.json', 'load.mjs']) copyFileSync(pinned(file), join(peersFolder, file));
const wrong = Object.keys(pins).filter((name) => installed(name) !== pins[name]);
if (wrong.length > 0) {
  console.log(`Installing ${wrong.map((name) => `${name} ${pins[name]}`).join(', ')} into ${peersFolder}`);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: peersFolder, stdio: 'inherit' });
}
console.log(`Peers are in ${peersFolder}:`);
for (const name of Object.keys(pins)) console.log(`  ${name} ${installed(name)}`);

function pinned(file) {
  return fileURLToPath(new URL(`peers/${file}`, import.meta.url));
}

function installed(name) {
  const manifest = join(peersFolder, 'node_modules', name, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}
