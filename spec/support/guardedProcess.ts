import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

/** A running process that ends with the process that started it, however that one ends. */
export interface GuardedProcess {
  readonly pid: number;
  readonly ended: boolean;
  /** Ends it at once, also when it is paused, and waits until it is gone. */
  kill(): Promise<void>;
}

export interface GuardedProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** What it writes to its standard output once it can be used. */
  readonly ready: RegExp;
  /** Removed when this process dies without having ended the child. */
  readonly folder: string;
  /** What to do when the command is not there. */
  readonly advice: string;
  readonly timeoutMs?: number;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Starts a process and waits until it can be used; fails with its last words, or with the advice when it is not installed. */
export async function startGuardedProcess(options: GuardedProcessOptions): Promise<GuardedProcess> {
  const { command, args, folder } = options;
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const guard = child.pid === undefined ? undefined : startGuard(child.pid, folder);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void ended.then(() => guard?.kill('SIGKILL'));
  const kill = async (): Promise<void> => {
    child.ref();
    child.kill('SIGKILL');
    await ended;
  };
  await untilReady(child, options).catch(async (error: unknown) => {
    if (child.pid !== undefined) await kill();
    throw error;
  });
  child.unref();
  for (const output of [child.stdout, child.stderr]) letGo(output.removeAllListeners('data').resume());
  return {
    pid: child.pid!,
    get ended() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    kill,
  };
}

async function untilReady(child: Child, { command, ready, advice, timeoutMs = 20_000 }: GuardedProcessOptions): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (what: string): void => {
      clearTimeout(timer);
      reject(new Error(`${command} ${what}${output === '' ? '' : `:\n${output.slice(-2_000)}`}`));
    };
    const onOutput = (text: Buffer): void => {
      output += text.toString();
      if (!ready.test(output)) return;
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => fail(`was not ready within ${timeoutMs} ms`), timeoutMs);
    child.stdout.on('data', onOutput);
    child.stderr.on('data', onOutput);
    child.once('error', (error: NodeJS.ErrnoException) => fail(error.code === 'ENOENT' ? `is not installed. ${advice}` : `did not start: ${error.message}`));
    child.once('exit', (code) => fail(`ended with ${code ?? 'a signal'} before it was ready`));
  });
}

/** A shell that outlives its parent for a moment: the end of its standard input tells it that the parent is gone. */
function startGuard(pid: number, folder: string): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', 'read -r line; kill -9 "$1"; rm -rf "$2"', 'sh', String(pid), folder], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  guard.unref();
  letGo(guard.stdin);
  return guard;
}

/** A child that was left running must not keep a test process from ending; its pipes are sockets, though typed as streams. */
function letGo(pipe: Readable | Writable): void {
  (pipe as Socket).unref();
}
