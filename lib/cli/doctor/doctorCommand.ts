import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { loadEnv } from '../loadEnv.js';
import { decimal } from '../optionKinds.js';
import { paragraph } from '../paragraph.js';

interface Flags {
  scope: string;
  envFile?: string;
  probe?: boolean;
  timeout: number;
  json?: boolean;
}

const purpose = paragraph(`
Shows the settings of a scope as they take effect, defaults included and secrets masked, and what is doubtful about them. If
they are refused, every problem is told at once, each with its key, value and remedy, and the exit code is 3. With
--probe it also asks each source a short question, which costs a few tokens (more where the model reasons), each by itself,
without retry or hedge, and the shared backend, and tells how long it took or why it failed; then the exit code is 1 if any
of them fails.`);

const examples = `
Examples:
  polygateway doctor                              settings from the environment
  polygateway doctor --env-file .env --probe      does each source answer?
  polygateway doctor --scope OCR --json | jq .findings`;

export const addDoctor: AddCommand = (program, { terminal, done }) => {
  program
    .command('doctor')
    .summary('effective settings and findings; --probe asks each source')
    .description(purpose)
    .option('--scope <name>', 'the scope to look at, the first part of the keys', 'LLM')
    .option('--env-file <file>', 'reads settings from a file too; what is set in the environment wins (default: none)')
    .option('--probe', 'asks each source a short question, which costs a few tokens')
    .option('--timeout <s>', 'with --probe: longest wait for a source, in s', decimal({ min: 0.1, max: 3600 }), 30)
    .option('--json', 'prints settings, findings and probes (times in ms) as JSON')
    .addHelpText('after', examples)
    .action(async ({ scope, envFile, probe = false, timeout, json = false }: Flags) => {
      loadEnv(envFile);
      const { runDoctor } = await import('./runDoctor.js');
      done(await interruptible((signal) => runDoctor({ scope, probe, timeoutS: timeout, json, terminal, signal })));
    });
};
