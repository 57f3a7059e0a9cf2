import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a program in a folder, without anything of our environment but where programs and npm's cache are. The promise is for what it
 * `printed`, on both outputs; it rejects where it fails. `prints(pattern)` waits for a line of one that goes on, `stop()` ends it.
 */
export function runIn(cwd, command, args, { env = {}, withinS = 60 } = {}) {
  const child = spawn(command, args, { cwd, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: withinS * 1000, killSignal: 'SIGKILL' });
  let printed = '';
  let stopped = false;
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text));

  const ended = once(child, 'close').then(([code]) => {
    if (code === 0 || stopped) return { printed };
    throw new Error(`${command} ${args.join(' ')}\nended with ${code}:\n${printed}`);
  });
  return Object.assign(ended, {
    async prints(pattern) {
      while (!pattern.test(printed)) await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error(`${args.join(' ')} ended:\n${printed}`)))]);
      return pattern.exec(printed)[1];
    },
    stop() {
      stopped = true;
      child.kill('SIGTERM');
      return ended;
    },
  });
}
