import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface ProcessEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly timeoutMs: number;
}

/** Runs Node with nothing of our environment but the path; what takes too long is killed and has the code `null`. */
export async function runProcess(args: readonly string[], { cwd, env = {}, timeoutMs }: ProcessOptions): Promise<ProcessEnd> {
  const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs, killSignal: 'SIGKILL' });
  const [ending, stdout, stderr] = await Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stdout), text(child.stderr)]);
  return { code: ending[0], stdout, stderr };
}
