// A source in a process of its own that is never silent: an increment each `everyMs`, plain, over TLS and with gzip.
import http from 'node:http';
import https from 'node:https';
import { createGzip } from 'node:zlib';

const { everyMs, increments, shortMs, tls } = JSON.parse(process.argv[2]);

const frame = (delta, finish_reason = null) => `data: ${JSON.stringify({ model: 'steady', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const end = `${frame({}, 'stop')}data: [DONE]\n\n`;

function answer(request, response) {
  request.resume();
  const [, kind] = request.url.split('/');
  switch (kind) {
    case 'plain':
    case 'gzip':
      return stream(response, kind === 'gzip');
    case 'short':
      return void setTimeout(() => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frame({ content: 'short' }) + end), shortMs);
    case 'backup':
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frame({ content: 'backup' }) + end);
    default:
      return response.end('pong');
  }
}

function stream(response, zipped) {
  const out = zipped ? createGzip() : response;
  response.writeHead(200, { 'content-type': 'text/event-stream', ...(zipped && { 'content-encoding': 'gzip' }) });
  if (zipped) out.pipe(response);
  let sent = 0;
  const interval = setInterval(() => {
    if (sent === increments) {
      clearInterval(interval);
      out.end(end);
      return;
    }
    out.write(frame({ content: `${sent} ` }));
    sent += 1;
    if (zipped) out.flush();
  }, everyMs);
  response.on('close', () => clearInterval(interval));
}

const listen = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
const [plain, secure] = await Promise.all([listen(http.createServer(answer)), listen(https.createServer(tls, answer))]);
process.send({ plain: `http://127.0.0.1:${plain}`, secure: `https://127.0.0.1:${secure}` });
process.on('disconnect', () => process.exit());
