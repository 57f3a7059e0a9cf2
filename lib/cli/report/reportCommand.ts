import { Option } from 'commander';
import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { loadEnv } from '../loadEnv.js';
import { paragraph } from '../paragraph.js';
import { addWhatIfOptions } from '../whatif/whatIfOptions.js';
import type { WhatIfFlags } from '../whatif/whatIfOptions.js';
import { csvTableNames } from './csvTables.js';
import type { CsvTableName } from './csvTables.js';
import { addReadingOptions } from './readingOptions.js';
import type { ReadingFlags } from './readingOptions.js';

interface Flags extends ReadingFlags, WhatIfFlags {
  readonly out?: string;
  readonly json?: boolean;
  readonly csv?: CsvTableName;
  /** `--no-whatif`. */
  readonly whatif: boolean;
}

const purpose = paragraph(`
Shows where the time of the recorded attempts went: how much of it was silence, at which source, what hedging won and wasted,
and which threshold would be worth setting, at which price. It writes one HTML file, which needs no network, and prints a
summary of less than a screen. The database is only read: nothing in it is changed, and no running threshold is. A million
rows are read in one pass and in bounded memory.`);

const examples = `
Examples:
  polygateway report --db telemetry.db                    summary, and polygateway-report-DATE.html
  polygateway report --db telemetry.db --since 7d --source openai/1 --out week.html
  polygateway report --env-file .env --tag team=search    the database of the settings
  polygateway report --db telemetry.db --json | jq .figures.overall
  polygateway report --db telemetry.db --csv hours > hours.csv

Times are UTC where no zone is written. With --json or --csv the HTML file is written only where --out
names it. Exit code 1 also where no attempt matches.`;

export const addReport: AddCommand = (program, { terminal, done }) => {
  const command = program.command('report').summary('where the time went: an HTML file and a summary').description(purpose);
  const reading = addReadingOptions(command).option('--source <id>', 'attempts at this source alone, such as openai/1; then nothing is predicted (default: all)');
  addWhatIfOptions(reading)
    .option('--out <file>', 'the HTML file; an older one is overwritten (default: polygateway-report-DATE.html)')
    .option('--json', 'prints all figures (times in ms) as JSON')
    .addOption(new Option('--csv [table]', 'prints one table (times in ms) as CSV').choices(csvTableNames).preset('sources').conflicts('json'))
    .option('--no-whatif', 'leaves out what other thresholds would have done, which takes longest')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      loadEnv(flags.envFile);
      const { runReport } = await import('./runReport.js');
      done(await interruptible((signal) => runReport({ ...flags, terminal, signal })));
    });
};
