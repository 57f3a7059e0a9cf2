import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The packages of which something is loaded, and the rooms of this one. */
async function loadedBy(name: string): Promise<{ packages: string[]; rooms: string[] }> {
  const { stdout } = await run(process.execPath, [fileURLToPath(new URL('loadedBy.mjs', import.meta.url)), name, root]);
  const files = JSON.parse(stdout) as string[];
  const first = (pattern: RegExp): string[] => [...new Set(files.flatMap((file) => pattern.exec(file)?.[1] ?? []))].sort();
  return { packages: first(/\/node_modules\/((?:@[^/]+\/)?[^/]+)/), rooms: first(new RegExp(`^${root}dist/(\\w+)/`)) };
}

describe('importing', () => {
  test.each([
    ['polygateway', ['eventsource-parser', 'rxjs', 'tokenx', 'undici', 'zod']],
    ['polygateway/operators', ['rxjs']],
    ['polygateway/testing', ['eventsource-parser', 'rxjs', 'tokenx', 'undici', 'zod']],
  ])('%s loads these packages alone: %j', async (name, packages) => {
    const loaded = await loadedBy(name);
    expect(loaded.packages).toEqual(packages);
    // The command line, the front door and the reports are for those who run them.
    expect(loaded.rooms.filter((room) => ['cli', 'server', 'lab'].includes(room))).toEqual([]);
    if (name === 'polygateway/operators') expect(loaded.rooms).toEqual(['operators']);
  }, 30_000);

  test('starts nothing and leaves no trace in the process', async () => {
    const program = `
      const state = () => [...Object.getOwnPropertyNames(globalThis), ...process.eventNames(), ...process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|Close/.test(name)), ...Object.keys(process.env)].map(String);
      const before = state();
      for (const name of ['polygateway', 'polygateway/operators', 'polygateway/testing']) await import(name);
      console.log(JSON.stringify(state().filter((name) => !before.includes(name))));`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: root });
    // zod keeps its registry there, so that two copies of it share one.
    expect({ left: (JSON.parse(stdout) as string[]).filter((name) => !name.startsWith('__zod_')), stderr }).toEqual({ left: [], stderr: '' });
  }, 30_000);

  test('through require gives the same modules, and CommonJS needs no other build', async () => {
    const program = `const [{ createGateway }, { hedge }, { marbles }] = ['polygateway', 'polygateway/operators', 'polygateway/testing'].map((name) => require(name));
      import('polygateway').then((imported) => console.log(typeof hedge, typeof marbles, imported.createGateway === createGateway));`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=commonjs', '--eval', program], { cwd: root });
    expect(stdout).toBe('function function true\n');
    // This Node says of every require() of an ES module outside node_modules that it is experimental.
    expect(stderr.replaceAll(/^.*(ExperimentalWarning: (CommonJS module|Support for loading ES Module)|--trace-warnings).*\n/gm, '')).toBe('');
  }, 30_000);
});
