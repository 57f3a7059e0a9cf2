import { once } from 'node:events';
import { createServer } from 'node:http';

const firstHalf = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta: { role: 'assistant', content: 'half' }, finish_reason: null }] };

/** A source that says one delta and then nothing for ever. */
export async function openSilentStream() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(firstHalf)}\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
