import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../bench/streams/run.mjs', import.meta.url));

// No figure is looked at: a measurement fails where content is lost or merged, or a call has left no row.
test('the floor and both ways through the gateway deliver all content flat out and paced', async () => {
  const options = ['--quick', '--scenes', 'flat1-batch,paced-1000', '--contestants', 'floor,stream$,chat$'];
  const { stdout } = await run(process.execPath, [program, ...options]);
  const rows = stdout.split('\n').filter((line) => /^\| (floor|polygateway)/.test(line));
  expect(rows).toHaveLength(6);
  expect(rows.join('\n')).not.toContain('failed');
}, 120_000);
