import { Option } from 'commander';
import type { ScriptOrder } from '../../lab/upstream/scriptOrder.js';
import { TIMELINE_HELP } from '../../lab/upstream/timelineHelp.js';
import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { decimal, wholeNumber } from '../optionKinds.js';
import { paragraph } from '../paragraph.js';

interface Flags {
  file?: string;
  port: number;
  host: string;
  order: ScriptOrder;
  model: string;
  random?: boolean;
  stallShare: number;
  seed?: number;
  quiet?: boolean;
}

const purpose = paragraph(`
Serves a simulated OpenAI-compatible API on localhost that plays scripts: when which piece of an answer comes, where it falls
silent, how it ends. Each chat request gets the next script; after the last one --order decides. The first line on
standard output is the address; the two lines after it are settings that point a source at it. One line for each request
goes to standard error. It runs until Ctrl-C.`);

const examples = `
Examples:
  polygateway upstream 'd@0.2"Hello" d@0.4" world" f@0.5'
      the same short answer to every request
  polygateway upstream --port 9901 'd@0.2"one " hang' '503@0.1'
      falls silent after a word; from the second request on answers 503
  polygateway upstream --random --stall-share 0.5 --seed 7
      plausible answers, half of which fall silent

${TIMELINE_HELP}`;

const orderOption = new Option('--order <order>', 'after the last script: the last again, from the start, or any at random every time')
  .choices(['last-repeats', 'cycle', 'random'])
  .default('last-repeats');

export const addUpstream: AddCommand = (program, { terminal, done }) => {
  program
    .command('upstream')
    .summary('simulated sources: scripted timelines on localhost')
    .description(purpose)
    .argument('[scripts...]', 'scripts, one a request (default: one short answer)')
    .option('--file <file>', 'reads scripts from a file too, one a line (default: none)')
    .addOption(orderOption)
    .option('--random', 'makes up an answer for each request instead of playing scripts')
    .option('--stall-share <share>', 'with --random: share of the answers that fall silent for 3 to 8 s, 0 to 1', decimal({ min: 0, max: 1 }), 0.2)
    .option('--seed <n>', 'the same seed makes the same choices at random (default: any)', wholeNumber({ min: 0, max: 2 ** 32 - 1 }))
    .option('--port <n>', 'port to listen on; 0 takes any free one', wholeNumber({ min: 0, max: 65535 }), 0)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--model <name>', 'name of the model in answers', 'sim')
    .option('--quiet', 'no line for each request')
    .addHelpText('after', examples)
    .action(async (scripts: string[], { quiet = false, random = false, ...flags }: Flags) => {
      const { runUpstream } = await import('./runUpstream.js');
      done(await interruptible((signal) => runUpstream({ ...flags, scripts, quiet, random, terminal, signal })));
    });
};
