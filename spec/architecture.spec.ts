import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

/** What each room may import beside itself: rooms of lower floors, and packages. Node's own modules are free. */
const rooms: Record<string, { floor: number; rooms: string[]; packages: string[] }> = {
  model: { floor: 0, rooms: [], packages: ['rxjs', 'zod'] },
  operators: { floor: 0, rooms: [], packages: ['rxjs'] },
  clock: { floor: 0, rooms: [], packages: ['rxjs'] },
  adapters: { floor: 1, rooms: ['model'], packages: ['rxjs'] },
  structured: { floor: 1, rooms: ['model'], packages: ['rxjs'] },
  config: { floor: 1, rooms: ['model'], packages: ['zod'] },
  wire: { floor: 1, rooms: ['model'], packages: ['rxjs', 'eventsource-parser', 'zod'] },
  sources: { floor: 2, rooms: ['model', 'wire'], packages: ['rxjs', 'undici'] },
  governance: { floor: 2, rooms: ['model', 'operators'], packages: ['rxjs', 'tokenx', 'ioredis'] },
  telemetry: { floor: 2, rooms: ['model'], packages: ['rxjs', 'better-sqlite3', 'pg', '@opentelemetry/api'] },
  gateway: { floor: 3, rooms: ['model', 'operators', 'adapters', 'governance'], packages: ['rxjs'] },
  assemble: { floor: 4, rooms: ['model', 'clock', 'config', 'sources', 'governance', 'telemetry', 'gateway'], packages: ['rxjs'] },
  server: { floor: 4, rooms: ['model', 'wire', 'adapters', 'gateway'], packages: ['rxjs', 'fastify'] },
  index: { floor: 5, rooms: ['model', 'adapters', 'structured', 'wire', 'clock', 'config', 'sources', 'governance', 'telemetry', 'gateway', 'assemble'], packages: [] },
  testing: { floor: 5, rooms: ['model', 'config', 'sources', 'assemble'], packages: ['rxjs', 'zod', '@jest/globals', 'vitest'] },
  lab: { floor: 5, rooms: ['model', 'telemetry'], packages: ['rxjs', '@observablehq/plot'] },
  cli: { floor: 6, rooms: ['model', 'clock', 'config', 'sources', 'telemetry', 'gateway', 'assemble', 'server', 'lab', 'testing'], packages: ['rxjs', 'commander', 'cli-table3', 'log-update', 'cli-progress', 'simple-ascii-chart'] },
};

const lib = fileURLToPath(new URL('../lib', import.meta.url));

interface Import {
  from: string;
  to: string;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(lib, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(lib, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:^|\s)(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|^import\s+['"]([^'"]+)['"]/gm)];
  return specifiers.map(([, a, b, c]) => ({ from: file, to: resolve(file, a ?? b ?? c ?? '') }));
}

function resolve(file: string, specifier: string): string {
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts') : specifier;
}

const files = filesIn(lib);
const imports = files.flatMap(importsOf);
const inLib = imports.filter(({ to }) => to.endsWith('.ts'));
const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : file.replace(/\.ts$/, ''));
const packageOf = (specifier: string): string => (specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : (specifier.split('/')[0] ?? ''));

describe('architecture', () => {
  test('every folder and file of lib is a room of the table', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in rooms))).toEqual([]);
  });

  test('the table itself never points upwards or sideways', () => {
    const upwards = Object.entries(rooms).flatMap(([room, { floor, rooms: allowed }]) =>
      allowed.filter((other) => (rooms[other]?.floor ?? Infinity) >= floor).map((other) => `${room} -> ${other}`),
    );
    expect(upwards).toEqual([]);
  });

  test('no room imports upwards, sideways or past its row of the table', () => {
    const forbidden = inLib
      .filter(({ from, to }) => roomOf(from) !== roomOf(to) && !rooms[roomOf(from)]?.rooms.includes(roomOf(to)))
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(forbidden).toEqual([]);
  });

  test('no room imports a package that is not in its row', () => {
    const forbidden = imports
      .filter(({ from, to }) => !/\.(ts|css)$/.test(to) && !to.startsWith('node:') && !rooms[roomOf(from)]?.packages.includes(packageOf(to)))
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(forbidden).toEqual([]);
  });

  test('there is no import cycle, types included', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to } of inLib) edges.set(from, [...(edges.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (done.has(file) || path.includes(file)) return;
      for (const to of edges.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test('only httpBytes and routes know undici, and nobody makes an AbortController', () => {
    const who = files.filter((file) => /from 'undici'|new AbortController/.test(readFileSync(join(lib, file), 'utf8'))).filter((file) => !/^(cli|lab)\//.test(file));
    expect(who).toEqual(['sources/httpBytes.ts', 'sources/routes.ts']);
  });

  test('nothing subscribes but the doors, and the operators that are written by hand', () => {
    const doors = files.filter((file) => /\.subscribe\(/.test(stripComments(readFileSync(join(lib, file), 'utf8')))).filter((file) => !/^(cli|lab|server|testing)\//.test(file));
    // A shared backend is told of ends and renewals whoever waits; readResponse outlives its subscriber for a moment, so that a
    // connection whose body is about to end can be used again. Who watches comes and goes over a socket. Whoever
    // reads at a pace of its own has no Observable to return, and a connection is held for as long as a request lasts. What is
    // held for each stream is an operator of one subscriber (operate.ts), or runs several attempts side by side (hedge.ts).
    expect(doors.sort()).toEqual([
      'adapters/openReading.ts', 'governance/redis/deliveries.ts', 'governance/redis/leases.ts', 'operators/hedge.ts', 'operators/hedgeUntilFirst.ts', 'operators/operate.ts', 'operators/withShortcut.ts', 'sources/httpBytes.ts', 'sources/readResponse.ts', 'telemetry/watch/audience.ts',
    ]);
  });
});

function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');
}
