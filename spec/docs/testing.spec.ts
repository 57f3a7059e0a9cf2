import { compileFunction } from 'node:vm';
import { expect, test } from '@jest/globals';
import * as rxjs from 'rxjs';
import { MarbleMismatch, marbles } from '../../lib/testing/index.js';
import { blocks } from './blocks.js';

test('docs/testing.md: the failing diagram fails with the message that stands there', () => {
  const inGuide = blocks.filter(({ guide }) => guide === 'docs/testing.md');
  const code = inGuide.find(({ file }) => file === 'early.spec.ts')?.code.replace(/^import .*\n/gm, '') ?? '';
  const message = inGuide.find(({ language }) => language === 'text')?.code;

  const thrown: unknown[] = [];
  const fails = (_: string, body: () => void): void => {
    try {
      body();
    } catch (error) {
      thrown.push(error);
    }
  };
  // The block is JavaScript as it stands; only what it imports is given.
  const play = compileFunction(`const { filter, map } = rxjs;\n${code}`, ['test', 'marbles', 'rxjs']) as (...given: unknown[]) => void;
  play({ fails }, marbles, rxjs);

  expect(thrown).toEqual([expect.any(MarbleMismatch)]);
  expect(`${(thrown[0] as Error).message}\n`).toBe(message);
});
