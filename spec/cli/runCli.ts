import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: Record<string, string>;
  /** Piped into standard input, which is otherwise empty. */
  input?: string;
}

export interface RunningCli {
  readonly child: ChildProcessWithoutNullStreams;
  /** Standard output so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves with the text once standard output has this many lines. */
  lines(count: number): Promise<string[]>;
  ended: Promise<CliResult>;
}

/** Starts the built program, as a user would: own process, no terminal, nothing of our environment but the path. */
export function startCli(args: readonly string[], { env = {}, input = '' }: CliOptions = {}): RunningCli {
  const child = spawn(process.execPath, [main, ...args], { env: { PATH: process.env['PATH'], ...env }, timeout: 60_000 });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(input);
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return {
    child,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    async lines(count) {
      while (stdout.split('\n').length <= count) await Promise.race([once(child.stdout, 'data'), failWhenEnded(ended)]);
      return stdout.split('\n').slice(0, count);
    },
    ended,
  };
}

/** Runs the built program to its end. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended;
}

async function failWhenEnded(ended: Promise<CliResult>): Promise<never> {
  const { code, stderr } = await ended;
  throw new Error(`the program ended with ${String(code)}: ${stderr}`);
}
