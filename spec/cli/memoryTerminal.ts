import { PassThrough } from 'node:stream';
import { createPaint, wantsColour } from '../../lib/cli/paint.js';
import type { Screen, Terminal } from '../../lib/cli/terminal.js';

export interface MemoryTerminal {
  readonly terminal: Terminal;
  readonly input: PassThrough;
  /** What was switched at the keyboard. */
  readonly raw: boolean[];
  readonly out: () => string;
  readonly err: () => string;
}

export interface MemoryTerminalOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: true. */
  readonly isTerminal?: boolean;
}

/** A terminal of 80 x 24 in memory, in which a command of this process runs as in a real one. */
export function memoryTerminal({ args = [], env = {}, isTerminal = true }: MemoryTerminalOptions = {}): MemoryTerminal {
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal, setRawMode: (on: boolean) => raw.push(on) });
  const paint = createPaint(wantsColour({ args, env, isTerminal }));
  const [out, err] = [screen(), screen()];
  if (!isTerminal) input.end();
  return { terminal: { input, out: out.screen, err: err.screen, env, verbose: args.includes('--verbose') }, input, raw, out: out.text, err: err.text };

  function screen(): { screen: Screen; text: () => string } {
    const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: isTerminal, columns: 80, rows: 24 });
    let text = '';
    stream.on('data', (chunk: string) => (text += chunk));
    const write = (given: string): void => void stream.write(given);
    return { text: () => text, screen: { stream: stream as unknown as NodeJS.WriteStream, isTerminal, columns: 80, paint, write, line: (given = '') => write(`${given}\n`) } };
  }
}
