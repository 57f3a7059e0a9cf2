// An upstream as cheap as it can be, over bare sockets: each request is answered with `max_tokens` deltas at the given rate, paced
// by absolute times, whoever is slow. The text of a delta is a mark: its number, when it was sent, how late that was.
import { createServer } from 'node:net';
import { nowMs } from './clock.mjs';

const periodMs = Math.round(1000 / Number(process.argv[2] ?? 10));
const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const opening = event({ delta: { role: 'assistant', content: '' }, finish_reason: null });
const ending = `${event({ delta: {}, finish_reason: 'stop' })}${chunk('data: [DONE]\n\n')}0\r\n\r\n`;
const [before, after] = event({ delta: { content: '#'.repeat(28) }, finish_reason: null }).split('#'.repeat(28));

/** Streams by the millisecond of their period in which they speak. */
const slots = Array.from({ length: periodMs }, () => new Set());
const seen = { requests: 0, finished: 0, left: 0, connections: 0, mostConnections: 0, lateMs: 0 };
let doneMs = Math.floor(nowMs());

setInterval(() => {
  const now = Math.floor(nowMs());
  while (doneMs < now) {
    doneMs += 1;
    for (const stream of slots[doneMs % periodMs]) speak(stream, doneMs);
  }
}, 1);

function speak(stream, dueMs) {
  if (stream.said === stream.total) {
    drop(stream);
    stream.socket.stream = undefined;
    seen.finished += 1;
    stream.socket.write(ending);
    return;
  }
  const sentMs = nowMs();
  seen.lateMs = Math.max(seen.lateMs, sentMs - dueMs);
  stream.socket.write(before + mark(stream.said, sentMs, sentMs - dueMs) + after, 'latin1');
  stream.said += 1;
}

function mark(number, sentMs, lateMs) {
  return `@${String(number).padStart(6, '0')}${String(Math.round(sentMs * 1000)).padStart(14, '0')}${String(Math.min(9_999_999, Math.round(lateMs * 1000))).padStart(7, '0')}`;
}

function drop(stream) {
  slots[stream.slot].delete(stream);
}

const server = createServer({ noDelay: true }, (socket) => {
  seen.connections += 1;
  seen.mostConnections = Math.max(seen.mostConnections, seen.connections);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.latin1Slice();
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    const { max_tokens: total } = JSON.parse(text.slice(end + 4, end + 4 + length));
    text = text.slice(end + 4 + length);
    begin(socket, total);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    seen.connections -= 1;
    if (socket.stream === undefined) return;
    seen.left += 1;
    drop(socket.stream);
  });
});

/** The first delta comes a period after the request, at a moment of its own. */
function begin(socket, total) {
  seen.requests += 1;
  const stream = { socket, total, said: 0, slot: Math.floor(nowMs()) % periodMs };
  socket.stream = stream;
  slots[stream.slot].add(stream);
  socket.write(head + opening);
}

function event(choice) {
  const fields = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, ...choice }] };
  return chunk(`data: ${JSON.stringify(fields)}\n\n`);
}

function chunk(text) {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

process.on('message', ({ ask }) => {
  if (ask === 'seen') process.send({ seen: { ...seen } });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', 4096, () => process.send({ port: server.address().port }));
