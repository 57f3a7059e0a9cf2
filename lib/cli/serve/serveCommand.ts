import { Option } from 'commander';
import type { Delivery } from '../../server/frontDoor.js';
import type { AddCommand } from '../addCommand.js';
import { interruptible } from '../interruption.js';
import { loadEnv } from '../loadEnv.js';
import { decimal, wholeNumber } from '../optionKinds.js';
import { paragraph } from '../paragraph.js';

interface Flags {
  scope: string;
  embeddingScope: string;
  envFile?: string;
  host: string;
  port: number;
  delivery: Delivery;
  keepaliveS: number;
  noticeS: number;
  drainS: number;
  slowClientS: number;
  maxBodyMb: number;
  keysFile?: string;
  quiet?: boolean;
}

const purpose = paragraph(`
Serves an OpenAI-compatible API over the sources of the environment, for whatever speaks to OpenAI: chat (streamed or
not), embeddings, the list of models, and /healthz, /readyz and /metrics. The first line on standard output is the address;
one line for each request that has ended goes to standard error. It answers this machine alone, unless
POLYGATEWAY_SERVE_KEYS or --keys-file hold keys that clients must come with. SIGTERM and Ctrl-C let the answers under
way end first; a second one ends it at once.`);

const examples = `
Examples:
  polygateway serve --env-file .env
  curl http://127.0.0.1:8787/v1/chat/completions -H 'content-type: application/json' \\
    -d '{"model":"any","messages":[{"role":"user","content":"Why is the sky blue?"}]}'
  openssl rand -hex 24 > keys.txt && polygateway serve --host 0.0.0.0 --keys-file keys.txt

In a program, the client stays as it is but for its address (it insists on a key; without
client keys any text will do):
  const client = new OpenAI({ baseURL: 'http://127.0.0.1:8787/v1', apiKey: KEY });
  await client.chat.completions.create({ model: 'any', messages, stream: true });

Keys: POLYGATEWAY_SERVE_KEYS has them between commas, a file has one a line: the key itself,
or sha256: and its hash in hexadecimal digits. Each has 16 characters at least. Clients send
\`authorization: Bearer KEY\`, to /metrics too, which names the sources.
The model that a client names is not sent on: each source has its own, and the answer says which.`;

const deliveryOption = new Option('--delivery <how>', 'of streams, where the header x-polygateway-delivery does not say: as text comes, or held back so that silences in the middle are hedged')
  .choices(['commit', 'buffered'])
  .default('commit');

const seconds = decimal({ min: 0.01, max: 86_400 });

export const addServe: AddCommand = (program, { terminal, done }) => {
  program
    .command('serve')
    .summary('an OpenAI-compatible API over the sources of the environment')
    .description(purpose)
    .option('--scope <name>', 'the scope whose settings count for chat', 'LLM')
    .option('--embedding-scope <name>', 'the scope for embeddings, which are served if it has settings', 'EMBEDDING')
    .option('--env-file <file>', 'reads settings from a file too; what is set in the environment wins (default: none)')
    .option('--host <host>', 'address to listen on; without keys a loopback one', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes any free one', wholeNumber({ min: 0, max: 65535 }), 8787)
    .addOption(deliveryOption)
    .option('--keys-file <file>', 'reads client keys from a file too, one a line (default: none)')
    .option('--keepalive-s <s>', 'a stream that has nothing to say for this long gets a comment, in s', seconds, 15)
    .option('--slow-client-s <s>', 'longest time that a client may leave an answer unread, in s', seconds, 60)
    .option('--notice-s <s>', 'when it is stopped, how long it still takes requests while /readyz says no, in s', decimal({ min: 0, max: 86_400 }), 0)
    .option('--drain-s <s>', 'longest time for the answers under way when it is stopped, in s', decimal({ min: 0, max: 86_400 }), 30)
    .option('--max-body-mb <n>', 'largest body of a request, in MiB', wholeNumber({ min: 1, max: 1024 }), 32)
    .option('--quiet', 'no line for each request')
    .addHelpText('after', examples)
    .action(async ({ envFile, quiet = false, ...flags }: Flags) => {
      loadEnv(envFile);
      const { runServe } = await import('./runServe.js');
      done(await interruptible((signal) => runServe({ ...flags, quiet, terminal, signal })));
    });
};
