import type { Readable } from 'node:stream';
import { createPaint, wantsColour } from './paint.js';
import type { Paint } from './paint.js';

/** One of the two streams that a command writes to. */
export interface Screen {
  readonly stream: NodeJS.WriteStream;
  readonly isTerminal: boolean;
  /** 80 where nobody says. */
  readonly columns: number;
  readonly paint: Paint;
  write(this: void, text: string): void;
  /** Writes a text and ends the line. */
  line(this: void, text?: string): void;
}

/** All that a command knows of the outside. */
export interface Terminal {
  readonly input: Readable & { isTTY?: boolean };
  readonly out: Screen;
  readonly err: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether an error is told with all its causes. */
  readonly verbose?: boolean;
}

/** The terminal of this process. */
export function processTerminal(args: readonly string[] = process.argv): Terminal {
  endQuietly(process.stdout);
  return {
    get input() {
      return process.stdin;
    },
    out: screen(process.stdout, args),
    err: screen(process.stderr, args),
    env: process.env,
    verbose: args.includes('--verbose'),
  };
}

function screen(stream: NodeJS.WriteStream, args: readonly string[]): Screen {
  const isTerminal = stream.isTTY;
  return {
    stream,
    isTerminal,
    get columns() {
      return isTerminal && stream.columns > 0 ? stream.columns : 80;
    },
    paint: createPaint(wantsColour({ args, env: process.env, isTerminal })),
    write: (text) => void stream.write(text),
    line: (text = '') => void stream.write(`${text}\n`),
  };
}

/** A reader that has seen enough (`| head`) ends the command in order. */
function endQuietly(stream: NodeJS.WriteStream): void {
  stream.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    stream.on('error', () => undefined);
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(0);
  });
}
