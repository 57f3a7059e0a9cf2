// The sources: one OpenAI-compatible server that plays the timelines of the workload. A run of a contestant is registered with
// PUT /runs/<id>, asked at /runs/<id>/<source>/v1, and its counters are read with GET /runs/<id>. The last message says which call it is.
import { createServer } from 'node:http';
import { openWorkload } from '../workload.mjs';
import { opening, playTimeline } from './playTimeline.mjs';
import { openRun } from './upstreamRun.mjs';

const runs = new Map();

const server = createServer(async (request, response) => {
  const [, , id, source] = request.url.split('/');
  const body = await bodyOf(request);
  if (request.method === 'PUT') return response.end(JSON.stringify(register(id, JSON.parse(body))));
  if (request.method === 'GET') return response.end(JSON.stringify(runs.get(id).counters));
  return answer(runs.get(id), source, JSON.parse(body), response);
});

function register(id, { seed, calls, outage }) {
  const workload = openWorkload({ seed });
  runs.set(id, openRun({ calls: Array.from({ length: calls }, () => workload.next()), outage }));
  return { id };
}

function answer(run, source, { messages, stream }, response) {
  if (stream !== true) return response.writeHead(400).end('{"error":{"message":"This upstream only streams: ask with stream: true."}}');
  const name = messages.at(-1).content.replace('call ', '');
  const { attempt, timeline, ...hooks } = name === 'warm-up' ? warmUp() : run.begin(Number(name), source);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(opening());
  const stop = playTimeline({ response, attempt, timeline, standstillMs: run.standstillMs, ...hooks });
  response.on('close', () => {
    stop();
    hooks.onClose(response.writableFinished);
  });
}

function warmUp() {
  const timeline = { gaps: [1, 1, 1], tokensPerDelta: 1 };
  return { attempt: { id: 'warm-up', source: 'a', nth: 1 }, timeline, onDelta() {}, onEnd() {}, onClose() {} };
}

async function bodyOf(request) {
  let text = '';
  for await (const bytes of request) text += bytes;
  return text;
}

process.on('disconnect', () => process.exit());
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
