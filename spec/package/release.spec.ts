import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const script = fileURLToPath(new URL('../../.ci/release.mjs', import.meta.url));
const pack = { name: 'a-package-to-try', version: '1.2.3', license: 'MIT', repository: 'https://example.com/it.git', scripts: { check: 'node -e "console.log(`all is checked`)"' } };
const inCi = { SIGSTORE_ID_TOKEN: 'a token' };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-release-'));
  write('package.json', JSON.stringify(pack));
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.3\n\n- It is here.\n');
  git('init', '--quiet');
  commit();
  git('tag', 'v1.2.3');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
const git = (...args: string[]): unknown => spawnSync('git', args, { cwd: folder });
const commit = (): unknown => [git('add', '.'), git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '-m', 'It', '--no-verify')];

function release(args: readonly string[] = [], env: Record<string, string> = {}): { status: number | null; stdout: string; refused: string[] } {
  // Nothing answers there, so that nothing can be published by mistake.
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'], npm_config_registry: 'http://127.0.0.1:1/', npm_config_fetch_retries: '0', ...env } });
  return { status, stdout, refused: stderr.split('\n').filter((line) => line.startsWith('refused: ')) };
}

describe('release', () => {
  test('says at once everything that is in the way, and runs nothing', () => {
    write('package.json', JSON.stringify({ name: pack.name, version: '1.2.4' }));
    const { status, stdout, refused } = release();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(refused.map((line) => /not committed|no tag v1\.2\.4|no section "## 1\.2\.4"|no repository|no license|no.* identity token/.exec(line)?.[0])).toEqual([
      'not committed', 'no tag v1.2.4', 'no section "## 1.2.4"', 'no repository', 'no license', 'not a CI job with an identity token',
    ]);
  });

  test('in CI, on the tagged commit, it checks and then publishes with provenance', () => {
    const { status, stdout, refused } = release([], inCi);
    expect(refused).toEqual([]);
    expect(stdout).toMatch(/all is checked[^]*> npm publish --provenance --access public --ignore-scripts\n/);
    expect(status).not.toBe(0);
  });

  test('publishes nothing where the check fails', () => {
    write('package.json', JSON.stringify({ ...pack, scripts: { check: 'exit 1' } }));
    commit();
    git('tag', '--force', 'v1.2.3');
    const { status, stdout } = release([], inCi);
    expect(status).not.toBe(0);
    expect(stdout).not.toContain('npm publish');
  });

  test('--dry-run does all of it but publishing, and still tells what would be refused', () => {
    expect(release(['--dry-run'], inCi)).toMatchObject({ status: 0, refused: [] });
    const { status, stdout, refused } = release(['--dry-run']);
    expect({ status, refused: refused.length }).toEqual({ status: 1, refused: 1 });
    expect(stdout).toContain('npm publish --provenance --access public --ignore-scripts --dry-run');
  });
});
