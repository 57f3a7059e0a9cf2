import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { runCli, startCli } from './runCli.js';
import type { RunningCli } from './runCli.js';
import { secret } from './sourceEnv.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(30_000);

const running: RunningCli[] = [];

afterAll(async () => {
  for (const cli of running) cli.child.kill('SIGTERM');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
});

function start(...args: string[]): RunningCli {
  const cli = startCli(['upstream', ...args]);
  running.push(cli);
  return cli;
}

function ask(url: string, stream = false): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
  return fetch(`${url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify({ model: 'x', stream, messages: [{ role: 'user', content: 'hi' }] }) });
}

async function contentOf(response: Response): Promise<string | undefined> {
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content;
}

async function urlOf(cli: RunningCli): Promise<string> {
  const [first = ''] = await cli.lines(1);
  return first.replace(/^listening on /, '');
}

describe('upstream', () => {
  test.concurrent('says its address first, then the two settings that point a source at it; serves and logs without keys', async () => {
    const cli = start('d@0.02"one" f@0.03', '503@0.01');
    const [first, ...settings] = await cli.lines(3);
    expect(first).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const url = await urlOf(cli);
    expect(settings).toEqual([`LLM__SIM__1__BASE_URL=${url}`, 'LLM__SIM__1__MODEL=sim']);

    expect(await (await ask(url, true)).text()).toContain('"content":"one"');
    expect((await ask(url)).status).toBe(503);
    cli.child.kill('SIGTERM');
    const { code, stdout, stderr } = await cli.ended;
    expect(code).toBe(143);
    expect(stdout.split('\n')).toHaveLength(4);
    expect(stderr).toBe('#1 streamed, 1 message, plays d@0.02"one" f@0.03\n#2 whole, 1 message, plays 503@0.01\n');
  });

  test.concurrent('the two settings are what chat needs', async () => {
    const [, ...settings] = await start('d@0.02"it works" f@0.03').lines(3);
    const env = Object.fromEntries(settings.map((line) => line.split('=', 2) as [string, string]));
    expect(await runCli(['chat', 'x'], { env })).toEqual({ code: 0, stdout: 'it works\n', stderr: '' });
  });

  test.concurrent('tells when a client leaves; --quiet tells nothing', async () => {
    const [open, quiet] = [start('d@0.01"one" hang'), start('--quiet', 'd@0.01"one" hang')];
    for (const cli of [open, quiet]) {
      const controller = new AbortController();
      const url = await urlOf(cli);
      const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: '{"stream":true,"messages":[]}', signal: controller.signal });
      await response.body?.getReader().read();
      controller.abort();
    }
    while (!open.stderr.includes('left')) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(open.stderr).toMatch(/^#1 streamed, 0 messages, plays d@0\.01"one" hang\n#1 the client left after \d+\.\d\d s\n$/);
    expect(quiet.stderr).toBe('');
  });

  test.concurrent('scripts of a file come after those of the command line; --order cycle begins again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'polygateway-spec-'));
    try {
      const file = join(folder, 'scripts.txt');
      writeFileSync(file, '# two answers\nd@0"second" f@0\n\nd@0"third" f@0\n');
      const url = await urlOf(start('--order', 'cycle', '--file', file, 'd@0"first" f@0'));
      const answers: (string | undefined)[] = [];
      for (let at = 0; at < 4; at += 1) answers.push(await contentOf(await ask(url)));
      expect(answers).toEqual(['first', 'second', 'third', 'first']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test.concurrent('--random with the same --seed plays the same answers', async () => {
    const both = [start('--random', '--seed', '5'), start('--random', '--seed', '5')];
    const urls = await Promise.all(both.map(urlOf));
    await Promise.all(urls.map((url) => ask(url).then(contentOf)));
    const plays = both.map(({ stderr }) => stderr);
    expect(plays[0]).toContain('plays ');
    expect(plays[0]).toBe(plays[1]);
  });

  test.concurrent('a port that is taken: 1, and what to do', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stdout, stderr } = await runCli(['upstream', '--port', String(port)]);
    server.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error EADDRINUSE - .+; another program has this port.+\n$/);
  });
});
