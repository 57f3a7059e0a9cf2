import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { wholeNumber } from '../optionKinds.js';
import { paragraph } from '../paragraph.js';

interface Flags {
  calls: number;
  seed?: number;
  db?: string;
  plain?: boolean;
  json?: boolean;
}

const purpose = paragraph(`
Shows what this product does, without key or network. Two simulated sources are started on localhost; the first one often
falls silent in the middle of an answer. A dozen calls are made and drawn as they happen: text that arrives, the
silence, the backup at the second source, who wins and who is cancelled. A table then compares the calls with what the same
answers would have taken without hedging, and counts the telemetry rows in the database. About 20 s.`);

const examples = `
Examples:
  polygateway demo
  polygateway demo --calls 4 --seed 7     the same answers each time
  polygateway demo --db demo.db           keeps the rows, to look at them
  polygateway demo --json                 only the figures, times in ms`;

export const addDemo: AddCommand = (program, { terminal, done }) => {
  program
    .command('demo')
    .summary('the main job on two simulated sources, see it happen')
    .description(purpose)
    .option('--calls <n>', 'calls to make, one after another', wholeNumber({ min: 1, max: 1000 }), 12)
    .option('--seed <n>', 'the same seed plays the same answers (default: any)', wholeNumber({ min: 0, max: 2 ** 32 - 1 }))
    .option('--db <file>', 'SQLite file that keeps the rows (default: a temporary one, removed at the end)', (file: string) => file.replace(/^sqlite:/, ''))
    .option('--plain', 'no redrawing, only lines; so is output that is no terminal')
    .option('--json', 'prints the final figures (times in ms) as JSON, and nothing else')
    .addHelpText('after', examples)
    .action(async ({ calls, seed = Math.floor(Math.random() * 1000), db, plain = false, json = false }: Flags) => {
      const { runDemo } = await import('./runDemo.js');
      done(await interruptible((signal) => runDemo({ calls, seed, db, plain, json, terminal, signal })));
    });
};
