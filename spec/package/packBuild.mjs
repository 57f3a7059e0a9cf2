import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Packs the build into `folder` and gives the tarball's path. From a copy, since specs that run at the same time keep folders of their
 * own in `dist`, and without scripts, since the build is there already.
 */
export function packBuild(folder) {
  const copy = mkdtempSync(join(tmpdir(), 'polygateway-pack-'));
  try {
    const pack = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    writeFileSync(join(copy, 'package.json'), JSON.stringify(pack, null, 2));
    for (const name of readdirSync(root).filter((name) => /\.md$|^LICENSE|^\.env\.example$|^docs$|^examples$|^\.npmignore$/.test(name))) cpSync(join(root, name), join(copy, name), { recursive: true });
    for (const name of builtEntries()) cpSync(join(root, 'dist', name), join(copy, 'dist', name), { recursive: true });
    mkdirSync(folder, { recursive: true });
    const printed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', resolve(folder)], { cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return join(resolve(folder), JSON.parse(printed)[0].filename);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What the compiler makes of `lib`: a folder for a folder, two files for a file. */
function builtEntries() {
  const built = readdirSync(join(root, 'lib'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [entry.name.replace(/\.ts$/, '.js'), entry.name.replace(/\.ts$/, '.d.ts')]));
  const missing = built.filter((name) => !existsSync(join(root, 'dist', name)));
  if (missing.length > 0) throw new Error(`dist has no ${missing.join(', ')}: run npm run build first`);
  return built;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(packBuild(process.argv[2] ?? '.'));
