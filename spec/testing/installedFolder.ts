import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Ran {
  readonly code: number;
  /** Of both outputs, without colours. */
  readonly output: string;
}

export interface InstalledFolder extends Disposable {
  write(name: string, text: string): void;
  /** Runs Node in the folder; killed after `timeoutMs`. */
  node(args: readonly string[], timeoutMs?: number): Promise<Ran>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** An empty project in which the built package and some others are installed, as a user would have it. */
export function installedFolder(packages: readonly string[]): InstalledFolder {
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-installed-'));
  const ours = join(folder, 'node_modules/polygateway');
  mkdirSync(ours, { recursive: true });
  for (const part of ['package.json', 'dist']) cpSync(join(root, part), join(ours, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(ours, 'node_modules'));
  for (const name of packages) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  return {
    write: (name, text) => writeFileSync(join(folder, name), text),
    node: (args, timeoutMs = 30_000) =>
      new Promise((resolve) => {
        // What jest sets for its own process is not for others.
        const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(NODE_|JEST_|VITEST)/.test(key)));
        const child = execFile(process.execPath, [...args], { cwd: folder, timeout: timeoutMs, env: { ...env, NO_COLOR: '1', CI: '1' } }, (_error, stdout, stderr) =>
          resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}`.replace(/\u001b\[[0-9;]*m/g, '') }),
        );
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
