// Streams without end: a frame each 250 ms, plain, over TLS, or packed where the path says /gzip. Prints {"plain":…,"tls":…,"certificate":…}.
// GET /pause: the longest time in which nothing was written; GET /silence: from now on nobody is told anything.
import { rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { firstFrame, frameAt } from '../streams/upstream/frames.mjs';
import { makeCertificate } from './certificate.mjs';
import { gzipPieces } from './gzipPieces.mjs';

const tickMs = 10;
const slots = Array.from({ length: 25 }, () => new Set());
const texts = [firstFrame, ...Array.from({ length: 2000 }, (_, at) => frameAt(at))];
const pieces = { plain: texts.map((text) => Buffer.from(text)), gzip: await gzipPieces(texts) };
let opened = 0;
let turn = 0;
let silent = false;
let lastMs = performance.now();
let longestPauseMs = 0;

setInterval(() => {
  longestPauseMs = longestPause();
  lastMs = performance.now();
  turn = (turn + 1) % slots.length;
  if (!silent) for (const stream of slots[turn]) writeNext(stream);
}, tickMs);

const { folder, file, key, cert } = makeCertificate();
const plain = await listen(http.createServer(answer));
const tls = key === undefined ? undefined : await listen(https.createServer({ key, cert }, answer));
console.log(JSON.stringify({ plain, tls, certificate: file }));
for (const ending of ['disconnect', 'SIGTERM']) process.on(ending, () => process.exit(0));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function answer(request, response) {
  if (request.url === '/pause') {
    response.end(String(Math.round(longestPause())));
  } else if (request.url === '/silence') {
    silent = true;
    response.end();
  } else {
    request.resume();
    request.on('end', () => stream(response, request.url.startsWith('/gzip')));
  }
}

function longestPause() {
  return Math.max(longestPauseMs, performance.now() - lastMs);
}

function stream(response, packed) {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...(packed ? { 'content-encoding': 'gzip' } : {}) });
  const stream = { response, pieces: packed ? pieces.gzip : pieces.plain, next: 0 };
  const slot = slots[opened++ % slots.length];
  writeNext(stream);
  slot.add(stream);
  response.on('close', () => slot.delete(stream));
}

function writeNext(stream) {
  if (stream.next < stream.pieces.length) stream.response.write(stream.pieces[stream.next++]);
}

function listen(server) {
  server.requestTimeout = 0;
  return new Promise((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => resolve(server.address().port)));
}
