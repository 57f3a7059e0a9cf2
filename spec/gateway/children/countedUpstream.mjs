// A source in a process of its own that is never silent: as many increments as the prompt says, one each `everyMs`.
import http from 'node:http';
import { json } from 'node:stream/consumers';

const { everyMs } = JSON.parse(process.argv[2]);

const frame = (delta, finish_reason = null) => `data: ${JSON.stringify({ model: 'counted', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const end = `${frame({}, 'stop')}data: [DONE]\n\n`;

const server = http.createServer(async (request, response) => {
  const { messages } = await json(request);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (request.url.startsWith('/backup')) return response.end(frame({ content: 'backup' }) + end);
  let left = Number(messages[0].content);
  const interval = setInterval(() => {
    left -= 1;
    response.write(frame({ content: 'tick ' }));
    if (left > 0) return;
    clearInterval(interval);
    response.end(end);
  }, everyMs);
  response.on('close', () => clearInterval(interval));
});

server.listen(0, '127.0.0.1', 511, () => process.send(`http://127.0.0.1:${server.address().port}`));
process.on('disconnect', () => process.exit());
