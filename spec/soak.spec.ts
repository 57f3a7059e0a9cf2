import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bench/soak/run.mjs', import.meta.url));

/** Its exit code, and all that it printed: figures before, at the peak and after, and what was found. */
function soak(...args: string[]): Promise<{ code: unknown; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { timeout: 110_000 }, (error, stdout, stderr) => resolve({ code: error?.code ?? error?.signal ?? 0, printed: `${stdout}${stderr}` }));
  });
}

test('one process under faults, aborts, reloads and an outage of Redis: sockets, timers, listeners, permits, keys and rows are back to what they were', async () => {
  const { code, printed } = await soak('--quick');

  expect(printed.match(/^(?:FOUND|.*NOT BACK|.*Error:).*$/gm) ?? []).toEqual([]);
  expect(printed).toContain('findings: 0');
  expect(code).toBe(0);
}, 120_000);
