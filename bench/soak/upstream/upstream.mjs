// Three sources in a process of their own. What becomes of a request is drawn by seed, call and try; the third one is away at times.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answersTo } from '../child.mjs';
import { importBuilt } from '../../support/places.mjs';
import { callIn } from '../answers.mjs';
import { fateFor } from './faults.mjs';
import { rightAnswer } from './parts.mjs';

const { mulberry32 } = await importBuilt('lab/mulberry32.js');
const seed = Number(process.argv[2]);
/** Per call: requests that came, and those that a client may send again by itself, since a kept connection broke under them. */
const seen = new Map();
const fates = {};

const servers = await Promise.all([0, 1, 2].map(() => listen(0)));
const ports = servers.map((server) => server.address().port);
comeAndGo(servers[2], mulberry32(seed));
answersTo({ seen: () => ({ calls: [...seen], fates }) });
process.send({ ports });

async function listen(port) {
  // Clients let go of a connection a second before it is said to end, so that some of each kind are met.
  const server = createServer({ noDelay: true, keepAliveTimeout: 2000 }, answer).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function answer(request, response) {
  const body = await textOfBody(request);
  if (body === undefined) return;
  const facts = note(callIn(body));
  const random = mulberry32(seed + callIn(body) * 16 + facts.requests);
  const { name, act } = fateFor(random);
  fates[name] = (fates[name] ?? 0) + 1;
  const right = rightAnswer({ path: request.url, body });
  const gapMs = right.parts.length > 100 ? 0 : Math.floor(random() * 25);
  const isKept = countAnswer(request.socket);
  const onCut = () => {
    if (isKept && !response.headersSent) facts.again += 1;
  };
  request.socket.onCut = onCut;
  act({ response, answer: right, gapMs, random, onCut, later: timersOf(response) });
}

async function textOfBody(request) {
  try {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    return text;
  } catch {
    // The client left before it had said all.
    return undefined;
  }
}

function note(call) {
  const facts = seen.get(call) ?? { requests: 0, again: 0 };
  facts.requests += 1;
  seen.set(call, facts);
  return facts;
}

/** Whether this connection has served a request before. */
function countAnswer(socket) {
  socket.served = (socket.served ?? 0) + 1;
  return socket.served > 1;
}

function timersOf(response) {
  let timer;
  response.once('close', () => clearTimeout(timer));
  return (ms, run) => {
    timer = setTimeout(() => response.destroyed || run(), ms);
  };
}

/** Refuses connections for some tenths of a second now and then, and cuts those it has. */
function comeAndGo(server, random) {
  const open = new Set();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const { port } = server.address();
  const leave = () => {
    server.close();
    for (const socket of open) {
      socket.onCut?.();
      socket.destroy();
    }
    setTimeout(comeBack, 100 + 600 * random());
  };
  const comeBack = () => server.listen(port, '127.0.0.1', () => setTimeout(leave, 500 + 3000 * random()));
  setTimeout(leave, 1000);
}
