import { fork } from 'node:child_process';
import type { ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A fixture that runs in a process of its own, on the built package. */
export interface Child {
  /** The next thing it tells; rejects, with what it printed, if it ends without. */
  message<T>(this: void): Promise<T>;
  send(this: void, message: string): void;
  /** Its exit code and what it wrote to standard error, once it has ended. */
  readonly ended: Promise<{ code: number | null; signal: string | null; stderr: string }>;
  kill(this: void): void;
}

export function startChild(name: string, options: object, { execArgv = [], ...fork_ }: Pick<ForkOptions, 'execArgv' | 'env' | 'uid' | 'gid'> = {}): Child {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const child = fork(path, [JSON.stringify(options)], { execArgv, ...fork_, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let stderr = '';
  child.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
  // `close`, not `exit`: only then has all of standard error been read.
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal: signal as string | null, stderr }));
  const endedTooSoon = (): Promise<never> => ended.then(({ code, signal }) => Promise.reject(new Error(`${name} ended with ${code ?? signal ?? ''}: ${stderr}`)));
  return {
    message: async <T>() => {
      const [message] = (await Promise.race([once(child, 'message'), endedTooSoon()])) as [T];
      return message;
    },
    send: (message) => void child.send(message),
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
}
