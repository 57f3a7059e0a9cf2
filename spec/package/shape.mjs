// Looks at the tarball as publint and are-the-types-wrong do; every notice of theirs fails.
//   node spec/package/shape.mjs [--tarball FILE]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packBuild } from './packBuild.mjs';

const { values: options } = parseArgs({ options: { tarball: { type: 'string' } } });
const bin = (name) => fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'polygateway-shape-'));

try {
  const tarball = resolve(options.tarball ?? packBuild(folder));
  execFileSync(bin('publint'), [tarball, '--strict'], { stdio: 'inherit' });
  // ES modules alone: CommonJS loads them by require(), which TypeScript knows from 5.8 on, and this tool does not yet.
  execFileSync(bin('attw'), [tarball, '--profile', 'esm-only', '--format', 'ascii'], { stdio: 'inherit' });
} catch (error) {
  process.exitCode = error.status ?? 1;
  if (error.status === undefined) console.error(error.message);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
