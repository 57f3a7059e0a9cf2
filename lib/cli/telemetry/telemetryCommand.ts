import { Option } from 'commander';
import type { Command } from 'commander';
import type { AddCommand, CommandContext } from '../addCommand.js';
import { exitCodes } from '../exitCodes.js';
import { loadEnv } from '../loadEnv.js';
import { wholeNumber } from '../optionKinds.js';
import { paragraph } from '../paragraph.js';

const purpose = paragraph(`
The table llm_attempts, which holds one row for every attempt. It is made and brought up to date by itself unless
TELEMETRY__SCHEMA=manual; then \`schema\` prints the SQL to run, from the same definition, and \`migrate\` runs it.`);

const examples = `
Examples:
  polygateway telemetry schema                            the table for SQLite
  polygateway telemetry schema --dialect postgres | psql mydb
  polygateway telemetry schema --since 1                  what came after version 1
  polygateway telemetry migrate --db sqlite:./telemetry.db`;

export const addTelemetry: AddCommand = (program, context) => {
  const telemetry = program.command('telemetry').summary('the telemetry table: print its SQL, bring a database up to date').description(purpose).addHelpText('after', examples);
  addSchema(telemetry, context);
  addMigrate(telemetry, context);
};

const schemaPurpose = paragraph(`
Prints the SQL that makes the table and its indexes, or, with --since, the SQL that brings a table of an older version up to
date. Version 1 is the table without stall_ms and stall_count, version 2 the one with them. Running it again does no
harm, but for ALTER TABLE in SQLite, which has no IF NOT EXISTS there.`);

const schemaExamples = `
Examples:
  polygateway telemetry schema | sqlite3 telemetry.db
  polygateway telemetry schema --dialect postgres --since 1 | psql mydb`;

function addSchema(telemetry: Command, { terminal, done }: CommandContext): void {
  telemetry
    .command('schema')
    .summary('prints the SQL of the table')
    .description(schemaPurpose)
    .addOption(new Option('--dialect <name>', 'the SQL of which database').choices(['sqlite', 'postgres']).default('sqlite'))
    .option('--since <version>', 'only what a table of this version lacks, such as 1 (default: the whole table)', wholeNumber({ min: 1, max: 1_000_000 }))
    .addHelpText('after', schemaExamples)
    .action(async ({ dialect, since }: { dialect: 'sqlite' | 'postgres'; since?: number }) => {
      const { schemaText } = await import('./schemaText.js');
      terminal.out.write(schemaText(dialect, since));
      done(exitCodes.done);
    });
}

const migratePurpose = paragraph(`
Brings a telemetry database up to date, whatever TELEMETRY__SCHEMA says, and tells what it did: it makes the table where there
is none, and adds the columns that are missing, which stay NULL in older rows. Nothing else is changed, and a database
that is up to date is left alone. Without --db it is the one that TELEMETRY__URL of the scope names.`);

const migrateExamples = `
Examples:
  polygateway telemetry migrate --env-file .env           the database of the settings
  polygateway telemetry migrate --db sqlite:./telemetry.db
  polygateway telemetry migrate --db postgres://me:secret@db.example:5432/app`;

function addMigrate(telemetry: Command, { terminal, done }: CommandContext): void {
  telemetry
    .command('migrate')
    .summary('makes the table, or adds the columns it lacks')
    .description(migratePurpose)
    .option('--db <url>', 'a SQLite file, or a postgres:// URL (default: TELEMETRY__URL of the scope)')
    .option('--scope <name>', 'the scope whose TELEMETRY__URL counts, the first part of its keys', 'LLM')
    .option('--env-file <file>', 'reads settings from a file too; what is set in the environment wins (default: none)')
    .addHelpText('after', migrateExamples)
    .action(async ({ db, scope, envFile }: { db?: string; scope: string; envFile?: string }) => {
      loadEnv(envFile);
      const { runMigrate } = await import('./runMigrate.js');
      done(await runMigrate({ url: db, scope, terminal }));
    });
}
