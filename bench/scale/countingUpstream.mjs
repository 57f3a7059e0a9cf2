// An upstream that answers after 20 ms and counts what it has at once; prints {"port":…} when it is ready. GET /seen tells, GET /reset begins anew.
import http from 'node:http';
import { firstFrame, frameAt, lastFrames } from '../streams/upstream/frames.mjs';

const deltas = 20;
const answersAfterMs = 20;
const reply = [firstFrame, ...Array.from({ length: deltas }, (_, at) => frameAt(at)), lastFrames(deltas)].join('');
const seen = { atOnce: 0, mostAtOnce: 0, requests: 0 };

const server = http.createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
  if (request.url === '/reset') Object.assign(seen, { mostAtOnce: seen.atOnce, requests: 0 });
  if (request.method === 'GET') return void response.end(JSON.stringify(seen));
  seen.requests += 1;
  seen.atOnce += 1;
  seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce);
  request.resume();
  setTimeout(() => {
    // Before the last byte is written: whoever has it may let the next one in.
    seen.atOnce -= 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(reply);
  }, answersAfterMs);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => console.log(JSON.stringify({ port: server.address().port })));
process.on('disconnect', () => process.exit(0));
