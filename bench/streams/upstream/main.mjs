// An upstream in the words of OpenAI, in a process of its own. Prints {"ports":[…]} when it is ready; the base URL says what is answered, so
// that anything that takes a base URL can be pointed at it:
//
//   http://127.0.0.1:PORT/s/DELTAS/MODE/ARGUMENT/GATE/v1      the client appends /chat/completions
//
//   frame   one write for each frame, flat out
//   batch   ARGUMENT frames for each write, flat out
//   whole   the whole reply in one write
//   paced   a frame each ARGUMENT ms that holds the time of its writing; none before GATE streams are open (0: at once)
//
// GET of the same path answers when its gate opens.
import http from 'node:http';
import { writeFlatOut } from './flatOut.mjs';
import { chunked, firstFrame, frameAt, lastFrames } from './frames.mjs';
import { atGate, whenOpen } from './gates.mjs';
import { writePaced } from './paced.mjs';

// More than one, since a pair of addresses has a limited number of connections, and closed ones are kept for a minute.
const portCount = 16;
const firstChunk = Buffer.from(chunked(firstFrame));
const remembered = new Map();

const servers = await Promise.all(Array.from({ length: portCount }, listen));
console.log(JSON.stringify({ ports: servers.map((server) => server.address().port) }));
process.on('disconnect', () => process.exit(0));

function listen() {
  const server = http.createServer({ keepAliveTimeout: 60_000, noDelay: true, requestTimeout: 0 }, answer);
  return new Promise((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => resolve(server)));
}

function answer(request, response) {
  const [, , deltas, mode, argument, gate] = request.url.split('/');
  const plan = { name: `${request.socket.localPort}/${deltas}/${argument}/${gate}`, deltas: Number(deltas), mode, argument: Number(argument), gate: Number(gate) };
  if (request.method === 'GET') return void whenOpen(plan.name, () => response.end());
  request.resume();
  request.on('end', () => reply(response, plan));
}

function reply(response, plan) {
  const { socket } = response;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-request-id': 'req_1' });
  response.flushHeaders();
  if (plan.mode === 'whole') {
    socket.write(once(`whole ${plan.deltas}`, () => Buffer.concat([firstChunk, ...piecesOf(plan.deltas, 1), lastChunk(plan.deltas)])));
    response.end();
    return;
  }
  socket.write(firstChunk);
  const onEnd = () => {
    socket.write(lastChunk(plan.deltas));
    response.end();
  };
  response.on('close', start(plan, socket, onEnd));
}

/** Answers how to stop. */
function start({ name, deltas, mode, argument, gate }, socket, onEnd) {
  if (mode !== 'paced') return writeFlatOut({ socket, pieces: piecesOf(deltas, mode === 'batch' ? argument : 1), onEnd });
  const begin = () => writePaced({ socket, deltas, periodMs: argument, onEnd });
  return gate === 0 ? begin() : atGate(name, gate, begin);
}

/** The content in chunks of so many frames. */
function piecesOf(deltas, size) {
  return once(`${deltas} ${size}`, () => Array.from({ length: Math.ceil(deltas / size) }, (_, at) => piece(at * size, Math.min(deltas, (at + 1) * size))));
}

function piece(from, to) {
  return Buffer.from(chunked(Array.from({ length: to - from }, (_, at) => frameAt(from + at)).join('')));
}

function lastChunk(deltas) {
  return once(`last ${deltas}`, () => Buffer.from(chunked(lastFrames(deltas))));
}

function once(key, make) {
  if (!remembered.has(key)) remembered.set(key, make());
  return remembered.get(key);
}
