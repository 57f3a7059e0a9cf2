import { readFileSync } from 'node:fs';
import { describe, expect, jest, test } from '@jest/globals';
import { createPaint, wantsColour } from '../../lib/cli/paint.js';
import { runCli } from './runCli.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(30_000);

const teaches: Record<string, string[]> = {
  '': ['demo', 'chat', 'doctor', 'upstream', 'Exit codes: 0 done, 1 failed, 2 wrong use, 3 configuration refused'],
  demo: ['--calls <n>', '(default: 12)', '--seed <n>', '--db <file>', '--plain', '--json'],
  chat: ['--scope <name>', '(default: "LLM")', '--no-stream', '--json', '--env-file <file>', '--record <file>', '--no-text', 'LLM__OPENAI__1__BASE_URL'],
  doctor: ['--probe', '--scope <name>', '--timeout <s>', 'in s (default: 30)', '--json'],
  watch: ['[socket]', '--scope <name>', '--pid <n>', '--once', '--json', 'TELEMETRY__WATCH=auto'],
  serve: ['--scope <name>', '--host <host>', '--port <n>', '--delivery <how>', '--keys-file <file>', '--drain-s <s>', 'POLYGATEWAY_SERVE_KEYS', 'baseURL'],
  upstream: ['--file <file>', '--port <n>', '--random', '--stall-share <share>', '(default: 0.2)', '--seed <n>', '--quiet', 'd@x"text"'],
};

describe('help', () => {
  test.each(Object.entries(teaches))('`%s --help` tells purpose, options with defaults and examples', async (command, words) => {
    const { code, stdout, stderr } = await runCli([...(command === '' ? [] : [command]), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of ['Usage: polygateway', 'Examples:\n  polygateway', '--no-color', ...words]) expect(stdout).toContain(word);
    const [, purpose = ''] = stdout.split('\n\n');
    expect(purpose.length).toBeGreaterThan(150);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
    expect(stdout).not.toContain('\u001b');
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('wrong use', () => {
  const wrong: [string[], RegExp][] = [
    [[], /Usage: polygateway/],
    [['dmeo'], /^error wrong_use - unknown command 'dmeo' \(Did you mean demo\?\); see --help/],
    [['chat', '--jsn', 'x'], /unknown option '--jsn'/],
    [['chat', ' '], /wrong_use - the text to ask is empty/],
    [['chat', '--no-text', 'x'], /wrong_use - --no-text says how to record: write --record FILE too/],
    [['chat'], /wrong_use - the text to ask is empty/],
    [['demo', '--calls', '0'], /whole number from 1 to 1000/],
    [['upstream', '--port', '70000'], /whole number from 0 to 65535/],
    [['upstream', '--stall-share', '1.5'], /number from 0 to 1/],
    [['upstream', '--order', 'backwards'], /Allowed choices are last-repeats, cycle, random/],
    [['upstream', '--random', 'hang'], /wrong_use - --random makes up its answers/],
    [['upstream', '--file', '/nowhere/at/all'], /wrong_use - --file \/nowhere\/at\/all cannot be read: ENOENT/],
    [['upstream', 'open@0.1 wait@2'], /timeline - column 10: expected one of open d r/],
  ];

  test.each(wrong)('%j ends with 2 and says why on standard error', async (args, why) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(why);
    if (args.length > 0) expect(stderr).toMatch(/^error \w+ - .+; .*--help.*\n$/);
  });
});

describe('colours', () => {
  test('only in a terminal, and not against --no-color, NO_COLOR or TERM=dumb', () => {
    const wish = { args: ['demo'], env: {}, isTerminal: true };
    expect(wantsColour(wish)).toBe(true);
    expect(wantsColour({ ...wish, isTerminal: false })).toBe(false);
    expect(wantsColour({ ...wish, args: ['demo', '--no-color'] })).toBe(false);
    expect(wantsColour({ ...wish, env: { NO_COLOR: '1' } })).toBe(false);
    expect(wantsColour({ ...wish, env: { NO_COLOR: '' } })).toBe(true);
    expect(wantsColour({ ...wish, env: { TERM: 'dumb' } })).toBe(false);
  });

  test('FORCE_COLOR wants them where there is no terminal, and the others forbid them still', () => {
    const wish = { args: ['demo'], env: { FORCE_COLOR: '1' }, isTerminal: false };
    expect(wantsColour(wish)).toBe(true);
    expect(wantsColour({ ...wish, env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).toBe(false);
    expect(wantsColour({ ...wish, args: ['--no-color'] })).toBe(false);
    expect(wantsColour({ ...wish, env: { FORCE_COLOR: '0' }, isTerminal: true })).toBe(false);
  });

  test('a paint without colours leaves the text alone', () => {
    expect(createPaint(false)('red', 'text')).toBe('text');
    expect(createPaint(true)('red', 'text')).toBe('\u001b[31mtext\u001b[39m');
  });
});
