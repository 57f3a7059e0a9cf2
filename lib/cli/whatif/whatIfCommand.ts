import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { loadEnv } from '../loadEnv.js';
import { wholeNumber } from '../optionKinds.js';
import { paragraph } from '../paragraph.js';
import { addReadingOptions } from '../report/readingOptions.js';
import type { ReadingFlags } from '../report/readingOptions.js';
import { addWhatIfOptions, readThresholds } from './whatIfOptions.js';
import type { WhatIfFlags } from './whatIfOptions.js';

interface Flags extends ReadingFlags, WhatIfFlags {
  readonly stall?: number[];
  readonly first?: number[];
  readonly resamples: number;
  readonly json?: boolean;
}

const purpose = paragraph(`
Replays the recorded silences with other hedging thresholds and tells for each which share of the calls would have been hedged,
which is counted, and how long calls would have taken and what that would have cost, which is predicted: the backups are
drawn from what the other sources did. Then it recommends the threshold after which more cost buys little. Nothing is
changed: neither the database nor a running threshold.`);

const examples = `
Examples:
  polygateway whatif --db telemetry.db
  polygateway whatif --db telemetry.db --max-extra 5% --since 7d
  polygateway whatif --db telemetry.db --stall 5,10,20 --first 2,5
  polygateway whatif --db telemetry.db --json | jq .recommendation

The method, and when it is wrong: docs/what-if.md. Exit code 1 also where no attempt matches.`;

export const addWhatIf: AddCommand = (program, { terminal, done }) => {
  const command = program.command('whatif').summary('what other hedging thresholds would have done').description(purpose);
  addWhatIfOptions(addReadingOptions(command))
    .option('--stall <s,...>', 'thresholds of silence in mid-stream to try, in s (default: 1 to 120, as far as silences go)', readThresholds)
    .option('--first <s,...>', 'thresholds of the wait for the first increment, in s (default: likewise)', readThresholds)
    .option('--resamples <n>', 'how often the calls are drawn again, for the bands', wholeNumber({ min: 20, max: 10_000 }), 200)
    .option('--json', 'prints the predictions (times in ms) as JSON')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      loadEnv(flags.envFile);
      const { runWhatIf } = await import('./runWhatIf.js');
      done(await interruptible((signal) => runWhatIf({ ...flags, terminal, signal })));
    });
};
