import { PassThrough } from 'node:stream';
import { createPaint } from '../../lib/cli/paint.js';
import { runProgram } from '../../lib/cli/program.js';
import type { Screen } from '../../lib/cli/terminal.js';
import type { CliOptions, CliResult } from './runCli.js';

/** Runs the program within this process, for what needs no process of its own; as if its output were piped. */
export async function runHere(args: readonly string[], { env = {} }: CliOptions = {}): Promise<CliResult> {
  const [out, err] = [createPipe(), createPipe()];
  const code = await runProgram(args, { input: new PassThrough(), out, err, env });
  return { code, stdout: out.text(), stderr: err.text() };
}

function createPipe(): Screen & { text: () => string } {
  let text = '';
  const write = (more: string): void => void (text += more);
  return {
    stream: new PassThrough() as unknown as NodeJS.WriteStream,
    isTerminal: false,
    columns: 80,
    paint: createPaint(false),
    write,
    line: (more = '') => write(`${more}\n`),
    text: () => text,
  };
}
