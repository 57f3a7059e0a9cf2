import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { addChat } from './chat/chatCommand.js';
import { addDemo } from './demo/demoCommand.js';
import { addDoctor } from './doctor/doctorCommand.js';
import { errorLines } from './errorLines.js';
import { exitCodes } from './exitCodes.js';
import { paragraph } from './paragraph.js';
import { addReport } from './report/reportCommand.js';
import { reportFailure } from './reportFailure.js';
import { addServe } from './serve/serveCommand.js';
import { addTelemetry } from './telemetry/telemetryCommand.js';
import type { Terminal } from './terminal.js';
import { addUpstream } from './upstream/upstreamCommand.js';
import { addWhatIf } from './whatif/whatIfCommand.js';
import { addWatch } from './watch/watchCommand.js';
import { WrongUse } from './wrongUse.js';

const purpose = paragraph(`
RxJS engine between an application and several OpenAI-compatible sources. It asks a second source when a stream falls
silent in the middle (hedging), takes the first whole answer, measures how much of the time was silence, and records
every attempt. Start with \`polygateway demo\`: it needs no key and no network.`);

const examples = `
Examples:
  polygateway demo                              see it happen, no key needed
  polygateway doctor --env-file .env --probe    does each of my sources answer?
  polygateway chat --env-file .env "Why is the sky blue?"
  polygateway serve --env-file .env             the same for every OpenAI client
  polygateway report --db telemetry.db          where did the time of my calls go?
  polygateway watch                             what does my running process do now?

Exit codes: 0 done, 1 failed, 2 wrong use, 3 configuration refused;
128 + its number where a signal ended the program.
An error is one line on standard error, with what to do about it; --verbose adds its causes.`;

/**
 * Runs one command line; gives the exit code and never rejects. What a command needs is loaded when it runs, so that help
 * comes at once.
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = createProgram(terminal, (code) => (exitCode = code));
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error: unknown) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUse;
    return reportFailure(error, { terminal });
  }
}

function createProgram(terminal: Terminal, done: (exitCode: number) => void): Command {
  const { out, err } = terminal;
  const program = new Command('polygateway')
    .description(purpose)
    .version(version(), '-V, --version', 'print the version')
    .option('--no-color', 'no colours; so does NO_COLOR, and output that is no terminal (but FORCE_COLOR)')
    .option('--verbose', 'with an error: every cause of it')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', examples)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => out.paint('bold', title) })
    .configureOutput({
      writeOut: out.write,
      writeErr: err.write,
      getOutHelpWidth: () => Math.min(out.columns, 110),
      getErrHelpWidth: () => Math.min(err.columns, 110),
      // Painted, or not, before it gets here.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
      outputError: (text, write) => errorLines(new WrongUse(text.replace(/^error: /, '')), { paint: err.paint }).forEach((line) => write(`${line}\n`)),
    });
  for (const add of [addDemo, addChat, addServe, addDoctor, addUpstream, addWatch, addReport, addWhatIf, addTelemetry]) add(program, { terminal, done });
  return program;
}

function version(): string {
  const { version: text } = createRequire(import.meta.url)('../../package.json') as { version: string };
  return text;
}
