import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { wholeNumber } from '../optionKinds.js';
import { paragraph } from '../paragraph.js';

interface Flags {
  scope?: string;
  pid?: number;
  json?: boolean;
  once?: boolean;
}

const purpose = paragraph(`
Shows what a running process does now: its sources with breaker, permits, pacing and parking, its open streams, the
longest silent first, against the silence after which a backup is asked for, and hedges, refusals and failures as they
happen. The process lets itself be watched by its own user where it was started with <SCOPE>__TELEMETRY__WATCH=auto, or with the
path of a socket, which is then to be given here. Nothing of prompts, answers or keys is shown. q or Ctrl-C ends it; so does
the end of the process, with exit code 0. Output that is no terminal gets a line for whatever is out of the ordinary.`);

const examples = `
Examples:
  polygateway watch                        the only process that can be watched
  polygateway watch --pid 4711
  polygateway watch /run/app/gateway.sock
  polygateway watch --once                 one snapshot
  polygateway watch --json | jq 'select(.type == "event").event'`;

export const addWatch: AddCommand = (program, { terminal, done }) => {
  program
    .command('watch')
    .summary('live view of a running process: silences, hedges, breakers')
    .description(purpose)
    .argument('[socket]', 'the socket of the process (default: the only one that auto has made)')
    .option('--scope <name>', 'only processes of this scope (default: any)')
    .option('--pid <n>', 'only the process with this number (default: any)', wholeNumber({ min: 1, max: 2 ** 31 }))
    .option('--once', 'prints one snapshot and ends')
    .option('--json', 'prints every snapshot and every event (times in ms) as one line of JSON; with --once one object')
    .addHelpText('after', examples)
    .action(async (address: string | undefined, { scope, pid, json = false, once = false }: Flags) => {
      const { runWatch } = await import('./runWatch.js');
      done(await interruptible((signal) => runWatch({ address, scope, pid, json, once, terminal, signal })));
    });
};
