import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { loadEnv } from '../loadEnv.js';
import { paragraph } from '../paragraph.js';
import { WrongUse } from '../wrongUse.js';
import { readPrompt } from './readPrompt.js';

interface Flags {
  scope: string;
  envFile?: string;
  stream: boolean;
  json?: boolean;
  record?: string;
  /** `--no-text`: of what is recorded, not of what is asked. */
  text: boolean;
}

const purpose = paragraph(`
Makes one call with the settings of the environment and prints the answer's text on standard output. On standard error, if
that is a terminal, one line tells which source answered, the call's wall time, how much of the answer was net
generation and how much silence, and how many backups were started. Ctrl-C ends the call, closes its
connections and still writes its telemetry row. With --record the timeline of each of its requests is saved, to be replayed
in tests by \`replay\` of polygateway/testing.`);

const examples = `
Examples:
  polygateway chat "Why is the sky blue?"          settings from the environment
  polygateway chat --env-file .env --json "Say hi" | jq .stats
  git diff | polygateway chat --scope REVIEW -     the text from standard input
  polygateway chat "Say hi" --record hi.json       what came, and when, for a test of your own

Least settings: LLM__OPENAI__1__BASE_URL, LLM__OPENAI__1__MODEL and mostly
LLM__OPENAI__1__API_KEY. Hedging needs a second source, such as LLM__OTHER__1__...,
and LLM__HEDGE__STALL_AFTER_S, the seconds of silence before a backup starts.`;

export const addChat: AddCommand = (program, { terminal, done }) => {
  program
    .command('chat')
    .summary('one call with the settings of the environment')
    .description(purpose)
    .argument('[text]', 'what to ask; "-", or nothing when something is piped in: read it from standard input')
    .option('--scope <name>', 'the scope whose settings count, the first part of their keys', 'LLM')
    .option('--env-file <file>', 'reads settings from a file too; what is set in the environment wins (default: none)')
    .option('--no-stream', 'asks for the answer in one piece; then no silence can be measured or hedged')
    .option('--json', 'prints the whole response with its figures (times in ms) as JSON')
    .option('--record <file>', 'saves when each source said what, those that failed or lost too; an older recording is overwritten')
    .option('--no-text', 'with --record: saves times and lengths, and nothing of what was said')
    .addHelpText('after', examples)
    .action(async (text: string | undefined, { stream, scope, envFile, json = false, record: file, text: withText }: Flags) => {
      if (file === undefined && !withText) throw new WrongUse('--no-text says how to record: write --record FILE too');
      const record = file === undefined ? undefined : { file, text: withText };
      loadEnv(envFile);
      const run = async (signal: AbortSignal): Promise<number> => {
        const prompt = await readPrompt({ text, input: terminal.input, signal });
        const { runChat } = await import('./runChat.js');
        return runChat({ prompt, scope, stream, json, record, terminal, signal });
      };
      done(await interruptible(run));
    });
};
