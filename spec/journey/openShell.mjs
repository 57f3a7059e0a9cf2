import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

/** One shell for a whole page: what it exports, starts and changes to stays. `close` ends whatever was started in it. */
export function openShell({ cwd, env }) {
  const shell = spawn('bash', ['--noprofile', '--norc'], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  shell.stdin.write('trap \'echo "failed with exit code $?: $BASH_COMMAND"; exit 1\' ERR\n');
  let from = 0;
  let runs = 0;

  const until = async (isThere, withinS) => {
    for (const end = Date.now() + withinS * 1000; !isThere(); await wait(10)) {
      if (shell.exitCode !== null || Date.now() > end) return false;
    }
    return true;
  };
  const printed = () => withoutColours(output.slice(from)).replaceAll(/^done \d+ of the journey, in .*\n/gm, '');

  return {
    printed,
    /** Runs a block and gives the folder that the shell is in afterwards. */
    async run(code, withinS = 180) {
      from = output.length;
      runs += 1;
      const mark = new RegExp(`^done ${runs} of the journey, in (.*)$`, 'm');
      shell.stdin.write(`${code}\necho "done ${runs} of the journey, in $PWD"\n`);
      if (!(await until(() => mark.test(output), withinS))) throw new Error(`${code}\nfailed, or took longer than ${withinS} s:\n${printed()}`);
      return mark.exec(output)[1];
    },
    /** Waits until each of the lines has been printed by the last block, which may go on in the background. */
    async expect(lines, withinS = 20) {
      if (await until(() => lines.every((line) => printed().includes(line)), withinS)) return;
      throw new Error(`not printed:\n${lines.filter((line) => !printed().includes(line)).join('\n')}\nbut:\n${printed()}`);
    },
    close() {
      try {
        process.kill(-shell.pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    },
  };
}

function withoutColours(text) {
  return text.replaceAll(/\x1b\[[\d;]*m/g, '');
}
