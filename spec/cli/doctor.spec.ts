import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { sharedRedisUrl } from '../support/redisServer.js';
import { runCli } from './runCli.js';
import { secret, sourceEnv } from './sourceEnv.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(30_000);

const running: Upstream[] = [];

afterAll(async () => {
  await Promise.all(running.splice(0).map((upstream) => upstream.close()));
});

async function start(...scripts: string[]): Promise<Upstream> {
  const upstream = await startUpstream({ scripts });
  running.push(upstream);
  return upstream;
}

const nowhere = 'http://127.0.0.1:9/v1';

describe('doctor', () => {
  test.concurrent('shows effective settings, defaults in brackets, the secret masked, and the findings', async () => {
    const more = { LLM__FIRST__1__PRIORITY: '5', LLM__FIRST__1__TTFT_TIMEOUT_S: '140', LLM__HEDGE__AFTER_S: '150' };
    const { code, stdout } = await runCli(['doctor'], { env: sourceEnv({ first: nowhere, second: 'https://example.test/v1' }, more) });
    expect(code).toBe(0);
    expect(stdout).toMatch(/source key +│ second\/1 +│ first\/1 /);
    expect(stdout).toMatch(/TTFT_TIMEOUT_S +│ \(120\) +│ 140 /);
    expect(stdout).toMatch(/API_KEY +│ sk-…60 +│ sk-…60 /);
    expect(stdout).toMatch(/HEDGE__AFTER_S +│ 150 /);
    expect(stdout).toMatch(/RETRY__MAX_ATTEMPTS +│ \(3\) /);
    expect(stdout).toMatch(/^warning LLM__HEDGE__AFTER_S .+ \(C3\)$/m);
    expect(stdout).not.toContain(secret);
  });

  test.concurrent('many sources stand in several tables, none wider than the terminal', async () => {
    const { stdout } = await runCli(['doctor'], { env: sourceEnv({ a: nowhere, b: nowhere.replace('9', '10'), c: nowhere.replace('9', '11'), d: nowhere.replace('9', '12'), e: nowhere.replace('9', '13') }) });
    expect(stdout.match(/source key/g)).toHaveLength(3);
    const tableWidths = stdout.split('\n').filter((line) => /^[│┌├└]/.test(line)).map((line) => line.length);
    expect(Math.max(...tableWidths)).toBeLessThanOrEqual(80);
  });

  test.concurrent('--json: settings masked, findings', async () => {
    const { code, stdout } = await runCli(['doctor', '--json'], { env: sourceEnv({ only: nowhere }, { LLM__HEDGE__STALL_AFTER_S: '20' }) });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      scope: 'LLM',
      settings: { hedgeStallAfterS: 20, maxAttempts: 3, sources: [{ id: 'only/1', apiKey: 'sk-…60', timeoutS: 300 }] },
      findings: [{ level: 'warning', rule: 'C5', key: 'LLM__HEDGE__STALL_AFTER_S' }],
    });
    expect(stdout).not.toContain(secret);
  });

  test.concurrent('refused settings: every problem at once, exit code 3, no secret; with --json too', async () => {
    const env = sourceEnv({ sim: 'ftp://somewhere' }, { LLM__HEDGE__STALL_AFTER_S: '400', LLM__RETRY__MAX_ATTEMPT: '3' });
    const [text, json] = await Promise.all([runCli(['doctor', '--probe'], { env }), runCli(['doctor', '--json'], { env })]);
    expect([text.code, json.code]).toEqual([3, 3]);
    const { problems } = JSON.parse(json.stdout) as { problems: string[] };
    expect(new Set(problems.map((problem) => /^[A-Z_0-9]+/.exec(problem)?.[0]))).toEqual(new Set(['LLM__HEDGE__STALL_AFTER_S', 'LLM__RETRY__MAX_ATTEMPT', 'LLM__SIM__1__BASE_URL']));
    for (const problem of problems) expect(text.stdout).toContain(`  - ${problem}`);
    expect(text.stdout + json.stdout).not.toContain(secret);
  });
});

describe('doctor --probe', () => {
  test.concurrent('asks each source alone, once; tells time or error, and fails if any source does', async () => {
    const good = await start('open@0.02 d@0.3"OK" f@0.3');
    const refusing = await start(`401@0.02(invalid_api_key,"Incorrect API key: ${secret}")`);
    const busy = await start('429@0.02(ra=30)');
    const env = sourceEnv({ refusing: refusing.url, good: good.url, busy: busy.url }, { LLM__HEDGE__AFTER_S: '0.01' });
    const { code, stdout } = await runCli(['doctor', '--probe', '--json'], { env });
    expect(code).toBe(1);
    const { probes } = JSON.parse(stdout) as { probes: Record<string, unknown>[] };
    expect(probes).toMatchObject([
      { source: 'refusing/1', ok: false, code: 'source' },
      { source: 'good/1', ok: true, model: 'sim' },
      { source: 'busy/1', ok: false, code: 'rate_limited' },
    ]);
    expect(probes[1]?.['ms']).toBeGreaterThanOrEqual(290);
    expect(stdout).not.toContain(secret);
    expect([refusing, good, busy].map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
  });

  test.concurrent('sets no limit of tokens, within which a reasoning model would not get to say anything', async () => {
    const reasoning = await start('open@0.02 r@0.05"They want OK." d@0.1"OK" f@0.1');
    const { code } = await runCli(['doctor', '--probe'], { env: sourceEnv({ reasoning: reasoning.url }) });
    expect(code).toBe(0);
    expect(reasoning.requests[0]?.body).not.toHaveProperty('max_tokens');
  });

  test.concurrent('0 if every source answers, and a table of them', async () => {
    const good = await start('open@0.02 d@0.05"OK" f@0.05');
    const { code, stdout } = await runCli(['doctor', '--probe'], { env: sourceEnv({ good: good.url }) });
    expect(code).toBe(0);
    expect(stdout).toMatch(/│ good\/1 +│ answers +│ +\d\.\d\d s │ as sim/);
  });

  test.concurrent('a source that never answers is given up after --timeout', async () => {
    const silent = await start('hang');
    const { code, stdout } = await runCli(['doctor', '--probe', '--timeout', '0.4', '--json'], { env: sourceEnv({ silent: silent.url }) });
    expect(code).toBe(1);
    const { probes } = JSON.parse(stdout) as { probes: { ms: number }[] };
    expect(probes).toMatchObject([{ source: 'silent/1', ok: false, code: 'call_deadline' }]);
    expect(probes[0]?.ms).toBeLessThan(10_000);
  });

  test.concurrent('asks a shared backend too', async () => {
    const good = await start('open@0.02 d@0.05"OK" f@0.05');
    const { code, stdout } = await runCli(['doctor', '--probe'], { env: sourceEnv({ good: good.url }, { LLM__BACKEND__URL: sharedRedisUrl() }) });
    expect(stdout).toMatch(/^Backend: decides after \d\.\d\d s$/m);
    expect(code).toBe(0);
  });

  test.concurrent('a shared backend that cannot be reached is a failure that tells where and why (G6)', async () => {
    const good = await start('open@0.02 d@0.05"OK" f@0.05');
    const env = sourceEnv({ good: good.url }, { LLM__BACKEND__URL: `redis://user:${secret}@127.0.0.1:9/0` });
    const { code, stdout } = await runCli(['doctor', '--probe', '--json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      probes: [{ source: 'good/1', ok: true }],
      backend: { ok: false, code: 'governance_backend', message: expect.stringMatching(/^Redis at 127\.0\.0\.1:9 gave no decision: .*ECONNREFUSED/) },
    });
    expect(stdout).not.toContain(secret);
  });
});
