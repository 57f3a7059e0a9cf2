// So many clients, each with one stream after the other, over bare sockets. They check every answer and measure every delta: from
// the moment that the upstream wrote it (which stands in it) to the moment that it was read here.
import { connect } from 'node:net';
import { createLatencies } from './latencies.mjs';
import { nowMs } from './clock.mjs';

const markLength = 28;
const { port, clients, seconds, warmUpS, windowS, rate, seed, longestS } = JSON.parse(process.argv[2]);
const random = mulberry32(seed);
const latencies = createLatencies();
const lateness = createLatencies();
const seen = { streams: 0, whole: 0, aborted: 0, wrong: [], deltas: 0, reads: 0 };

for (let place = 0; place < clients; place += 1) setTimeout(begin, random() * warmUpS * 800, {});

/** A client keeps its connection from stream to stream, but for those that it leaves. */
function begin(client) {
  const lengthS = 1 + random() * (longestS - 1);
  const total = Math.max(1, Math.round(lengthS * rate));
  seen.streams += 1;
  Object.assign(client, { total, next: 0, tail: '', status: '', isDone: false, isReading: true });
  client.leaving = random() < 1 / 3 ? setTimeout(leave, random() * lengthS * 1000, client) : undefined;
  client.socket ??= open(client);
  const body = JSON.stringify({ model: 'any', max_tokens: total, stream: true, messages: [{ role: 'user', content: 'Say what time it is, again and again.' }] });
  client.socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

function open(client) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('data', (bytes) => read(client, bytes));
  socket.on('error', ({ message }) => wrong(client, socket, message));
  socket.on('close', () => wrong(client, socket, 'the connection was closed'));
  return socket;
}

/** Leaves in the middle, and comes again. */
function leave(client) {
  seen.aborted += 1;
  drop(client);
  setTimeout(begin, random() * 100, client);
}

function drop(client) {
  const { socket } = client;
  clearTimeout(client.leaving);
  client.socket = undefined;
  client.isReading = false;
  socket?.destroy();
}

function wrong(client, socket, message) {
  if (client.socket !== socket) return;
  // A server may close a connection that waits for a request.
  if (client.isReading) {
    if (seen.wrong.length < 20) seen.wrong.push(`${message}, after ${client.next} of ${client.total} deltas: ${client.tail.slice(-300)}`);
    else seen.wrong.push('');
  }
  drop(client);
  setTimeout(begin, 100, client);
}

function read(client, bytes) {
  const now = nowMs();
  seen.reads += 1;
  const text = client.tail + bytes.latin1Slice();
  if (client.status === '') {
    if (text.length < 12) return void (client.tail = text);
    client.status = text.slice(9, 12);
    if (client.status !== '200') return wrong(client, client.socket, `status ${text.slice(0, 600)}`);
  }
  let place = text.indexOf('@');
  let after = 0;
  while (place !== -1 && place + markLength <= text.length) {
    if (Number(text.slice(place + 1, place + 7)) !== client.next) return wrong(client, client.socket, `number ${text.slice(place, place + 7)}`);
    note(now, Number(text.slice(place + 7, place + 21)) / 1000, Number(text.slice(place + 21, place + 28)) / 1000);
    client.next += 1;
    after = place + markLength;
    place = text.indexOf('@', after);
  }
  client.tail = text.slice(place === -1 ? Math.max(after, text.length - 1000) : place);
  if (client.next === client.total && client.tail.includes('[DONE]')) finish(client);
  else if (text.includes('"error"')) wrong(client, client.socket, text.slice(0, 600));
}

/** The body ends with an empty chunk, behind which facts may stand. */
function finish(client) {
  if (!/\r\n0\r\n(.+\r\n)*\r\n$/.test(client.tail)) return;
  seen.whole += 1;
  clearTimeout(client.leaving);
  client.isReading = false;
  begin(client);
}

function note(now, sentMs, lateMs) {
  seen.deltas += 1;
  latencies.add(now - sentMs);
  lateness.add(lateMs);
}

function mulberry32(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Tells what came in each window, the warm-up being the first of them. */
function tellWindow() {
  const counts = { ...seen, wrong: seen.wrong.filter(Boolean), wrongCount: seen.wrong.length };
  process.send({ window: { latencies: latencies.take(), lateness: lateness.take(), counts } });
}

setTimeout(() => {
  tellWindow();
  setInterval(tellWindow, windowS * 1000);
}, warmUpS * 1000);
process.on('disconnect', () => process.exit());
