import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { settingsFromEnv } from '../../lib/index.js';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import { runHere } from '../cli/runHere.js';
import { ofLanguage, root, where } from './blocks.js';
import type { Block } from './blocks.js';

const shell = ofLanguage('sh');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<'scripts' | 'dependencies' | 'devDependencies' | 'peerDependencies', Record<string, string>>;

/** The words of each line that begins with the program, without what is behind a `#`, and with lines that go on put together. */
const programLines = shell.flatMap((block) =>
  [...block.code.replaceAll('\\\n', ' ').matchAll(/^(?:\w+=\S+ )*(?:npx )?polygateway ([^\n]*)$/gm)].map(([, line = '']) => ({ block, words: line.replace(/\s#.*$|\s[|>&].*$/, '').trim().split(/\s+/) })),
);

describe('blocks of shell', () => {
  test('name commands and options of the program that exist', async () => {
    const troubles: string[] = [];
    for (const { block, words } of programLines) troubles.push(...(await unknownOf(words)).map((word) => `${where(block)}: ${word}`));
    expect(troubles).toEqual([]);
    expect(programLines.length).toBeGreaterThan(8);
  });

  test('name scripts of the package', () => {
    const named = shell.flatMap((block) => [...block.code.matchAll(/\bnpm (?:run (?:-s )?)?([\w:]+)/g)].map(([, name = '']) => ({ block, name })));
    const known = new Set([...Object.keys(manifest.scripts), 'audit', 'ci', 'i', 'install', 'init', 'pkg', 'pack', 'publish']);
    expect(named.filter(({ name }) => !known.has(name)).map(({ block, name }) => `${where(block)}: npm run ${name}`)).toEqual([]);
  });

  test('install packages that this one knows of', () => {
    const known = new Set(['polygateway', ...Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies })]);
    const installed = shell.flatMap((block) => [...block.code.matchAll(/\bnpm (?:i|install) ([^#\n]*)/g)].flatMap(([, names = '']) => packagesIn(names).map((name) => ({ block, name }))));
    expect(installed.filter(({ name }) => !known.has(name)).map(({ block, name }) => `${where(block)}: ${name}`)).toEqual([]);
    expect(installed.length).toBeGreaterThan(0);
  });

  test('set an environment that is accepted', () => {
    const environments = shell.filter((block) => Object.keys(envOf(block)).length > 0).map((block) => ({ ...exportedBefore(block), ...envOf(block) }));
    for (const env of environments) {
      const scope = Object.keys(env)[0]!.split('__')[0]!;
      const sources = { [`${scope}__X__1__BASE_URL`]: 'https://example.com/v1', [`${scope}__X__1__MODEL`]: 'm', [`${scope}__Y__1__BASE_URL`]: 'https://example.org/v1', [`${scope}__Y__1__MODEL`]: 'm' };
      const { settings } = resolveSettings(settingsFromEnv(scope, { ...sources, ...env }));
      expect(settings.scope).toBe(scope);
    }
    expect(new Set(environments.flatMap((env) => Object.keys(env)))).toEqual(expect.objectContaining(new Set(['LLM__BACKEND__URL', 'LLM__TELEMETRY__URL', 'LLM__A__1__BASE_URL'])));
  });
});

async function unknownOf(words: readonly string[]): Promise<readonly string[]> {
  const [command = '', sub = ''] = words;
  const path = command === 'telemetry' && /^\w+$/.test(sub) ? [command, sub] : [command];
  if (command.startsWith('-')) return [];
  const { stdout } = await runHere([...path, '--help']);
  if (!stdout.startsWith(`Usage: polygateway ${path.join(' ')} `)) return [path.join(' ')];
  return words.filter((word) => word.startsWith('--')).filter((word) => !new RegExp(`(^|\\s)${word.split('=')[0]!}\\b(?!-)`).test(stdout));
}

function packagesIn(names: string): readonly string[] {
  return names.split(/\s+/).map((name) => name.replace(/(?<=.)@.*$/, '')).filter((name) => /^@?[a-z]/.test(name) && !name.endsWith('.tgz'));
}

/** What stays set in the shell of a reader who does all that a guide says. */
function exportedBefore({ guide, line }: Block): Record<string, string> {
  const before = shell.filter((block) => block.guide === guide && block.line < line && block.code.includes('export '));
  return Object.assign({}, ...before.map(envOf)) as Record<string, string>;
}

function envOf({ code }: Block): Record<string, string> {
  return Object.fromEntries([...code.matchAll(/^(?:export )?([A-Z][A-Z0-9]*__\w+)=(\S+)/gm)].map(([, key = '', value = '']) => [key, value.replace('…', '').replace(/^(['"])(.*)\1$/, '$2')]));
}
