// A source in a process of its own that notes when each request came, when its answer had gone out, and what it used.
import http from 'node:http';
import { json } from 'node:stream/consumers';

const visits = [];
const frame = (fields) => `data: ${JSON.stringify({ model: 'm', ...fields })}\n\n`;
const delta = (text, finish_reason = null) => frame({ choices: [{ index: 0, delta: { content: text }, finish_reason }] });

const server = http.createServer(async (request, response) => {
  const visit = { startMs: performance.now(), endMs: Infinity, tokens: 0, by: '' };
  visits.push(visit);
  // The prompt says who asks, how long the answer takes and what it uses.
  const { by, serviceMs, tokens } = JSON.parse((await json(request)).messages[0].content);
  Object.assign(visit, { by, tokens });
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta('first '));
  const ticking = setInterval(() => response.write(delta('tick ')), 200);
  const end = setTimeout(() => {
    visit.endMs = performance.now();
    const usage = { prompt_tokens: 1, completion_tokens: tokens - 1, total_tokens: tokens };
    response.end(`${delta('last', 'stop')}${frame({ choices: [], usage })}data: [DONE]\n\n`);
  }, serviceMs);
  response.on('close', () => {
    clearInterval(ticking);
    clearTimeout(end);
    visit.endMs = Math.min(visit.endMs, performance.now());
  });
});

server.listen(0, '127.0.0.1', 511, () => process.send(`http://127.0.0.1:${server.address().port}`));
process.on('message', () => process.send({ visits: visits.map((visit) => ({ ...visit, endMs: Math.min(visit.endMs, 1e300) })), nowMs: performance.now() }));
process.on('disconnect', () => process.exit());
