import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { readPrompt } from '../../lib/cli/chat/readPrompt.js';

describe('readPrompt', () => {
  const signal = new AbortController().signal;

  test('a terminal is not read: without a text the use is wrong', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    await expect(readPrompt({ text: undefined, input, signal })).rejects.toMatchObject({ code: 'wrong_use' });
  });

  test('an argument goes before standard input, which is not touched', async () => {
    const input = new PassThrough();
    expect(await readPrompt({ text: 'asked', input, signal })).toBe('asked');
    expect(input.readableFlowing).toBeNull();
  });

  test('stops reading when the command is stopped', async () => {
    const controller = new AbortController();
    const input = new PassThrough();
    const reading = readPrompt({ text: '-', input, signal: controller.signal });
    controller.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(input.destroyed).toBe(true);
  });
});
