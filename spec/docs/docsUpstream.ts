import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';

/** What every block can ask: chat answers with one text, and embeddings and OCR are there too. */
export interface DocsUpstream {
  readonly env: Record<string, string>;
  readonly close: () => Promise<void>;
}

export async function startDocsUpstream(says: string): Promise<DocsUpstream> {
  const chat = await startUpstream({ scripts: [timelineOf(says)] });
  const server = createServer((request, response) => {
    const answer = answers.find(([end]) => request.url?.endsWith(end))?.[1];
    if (answer === undefined) passOn(chat, request, response);
    else void json(request).then((body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(body as Body))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    env: envOf(url),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await chat.close();
    },
  };
}

function envOf(url: string): Record<string, string> {
  const sources = ['LLM__A__1', 'LLM__B__1', 'EMBEDDING__A__1', 'OCR__A__1'].flatMap((source) => [[`${source}__BASE_URL`, url], [`${source}__MODEL`, 'sim']]);
  return { ...(Object.fromEntries(sources) as Record<string, string>), LLM__B__1__PRIORITY: '1', OPENAI_BASE_URL: url, OPENAI_API_KEY: 'sk-test' };
}

/** `Hello there` in two increments; any other text in one. */
function timelineOf(says: string): string {
  const [first, second] = says === 'Hello there' ? ['Hello', ' there'] : [says, ''];
  return `d@0.05${JSON.stringify(first)} ${second === '' ? '' : `d@0.15${JSON.stringify(second)}`} u@0.2(3,2) f@0.2`;
}

type Body = Readonly<Record<string, unknown>>;

const answers: readonly [string, (body: Body) => object][] = [
  ['/embeddings', ({ input, model }) => {
    const inputs = Array.isArray(input) ? input : [input];
    return { object: 'list', model, data: inputs.map((_, index) => ({ object: 'embedding', index, embedding: [0.1, 0.2, 0.3] })), usage: { prompt_tokens: 2, total_tokens: 2 } };
  }],
  ['/ocr', ({ model }) => ({ model, pages: [{ index: 0, markdown: '# Invoice' }], usage_info: { pages_processed: 1 } })],
];

function passOn({ port }: Upstream, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = request;
  const passed = forward({ port, host: '127.0.0.1', path: url, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  response.on('close', () => passed.destroy());
  passed.on('error', () => response.destroy());
  request.pipe(passed);
}
