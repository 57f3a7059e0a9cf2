import { createGzip } from 'node:zlib';
import { frame } from './parts.mjs';

/**
 * What may become of a request, with its weight. Each is given `{ response, answer, gapMs, random, later }`: the right answer, the
 * pause between its parts, and a timer that ends with the response.
 */
const fates = {
  right: [50, (to) => play(to, to.answer.parts, end)],
  packed: [3, (to) => playPacked(to, to.answer.parts, (packed) => packed.end())],
  silentInMiddle: [6, (to) => play(to, half(to), nothing)],
  pauseInMiddle: [6, (to) => play(to, half(to), () => to.later(200 + 500 * to.random(), () => play(to, rest(to), end)))],
  silent: [2, nothing],
  headAlone: [2, (to) => play(to, [], nothing)],
  slowToBegin: [4, (to) => to.later(200 + 600 * to.random(), () => play(to, to.answer.parts, end))],
  resetAtOnce: [3, reset],
  resetInMiddle: [4, (to) => play(to, half(to), reset)],
  cutInMiddle: [3, (to) => play(to, half(to), ({ response }) => response.socket?.end())],
  endInMiddle: [2, (to) => play(to, half(to), end)],
  cutWhilePacked: [1, (to) => playPacked(to, half(to), (_packed, { response }) => response.destroy())],
  brokenJson: [3, (to) => play(to, [...half(to), 'data: {"choices":[{"index":\n\n', ...rest(to)], end)],
  errorInMiddle: [2, (to) => play(to, [...half(to), frame({ error: { message: 'overloaded', code: 'server_error' } })], end)],
  page: [1, (to) => say(to, 200, '<html>busy</html>', { 'content-type': 'text/html' })],
  limited: [4, (to) => say(to, 429, error('slow down'), { 'retry-after': (to.random() < 0.5 ? 0 : 1) })],
  limitedInWords: [1, (to) => say(to, 429, error('slow down'))],
  broken: [4, (to) => say(to, 500, error('broken'))],
  unavailable: [1, (to) => say(to, 503, error('soon'), { 'retry-after': 1 })],
  refusesKey: [1, (to) => say(to, 401, error('who are you'))],
  refusesRequest: [1, (to) => say(to, 400, error('what is this'))],
};

const total = Object.values(fates).reduce((sum, [weight]) => sum + weight, 0);

export function fateFor(random) {
  let left = random() * total;
  const [name, [, act]] = Object.entries(fates).find(([, [weight]]) => (left -= weight) < 0);
  return { name, act };
}

function nothing() {
  // The connection stays open until the client leaves.
}

function play(to, parts, then) {
  open(to);
  playInto(to.response, to, parts, () => then(to));
}

function playPacked(to, parts, then) {
  open(to, { 'content-encoding': 'gzip' });
  const packed = createGzip();
  packed.pipe(to.response);
  to.response.once('close', () => packed.destroy());
  playInto({ write: (part) => void (packed.write(part), packed.flush()) }, to, parts, () => then(packed, to));
}

/** Without a pause where there is none; with one, each part in a turn of its own. */
function playInto(writable, { gapMs, later }, parts, then) {
  const next = (at) => {
    if (at === parts.length) return then();
    writable.write(parts[at]);
    return gapMs === 0 ? next(at + 1) : later(gapMs, () => next(at + 1));
  };
  if (gapMs > 0) return next(0);
  for (const part of parts) writable.write(part);
  return then();
}

function open({ response, answer: { type } }, more = {}) {
  if (!response.headersSent) response.writeHead(200, { 'content-type': type, ...more }).flushHeaders();
}

function say({ response }, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

function error(message) {
  return JSON.stringify({ error: { message, type: 'x', code: null } });
}

function end({ response }) {
  response.end();
}

/** A turn later, or what was written in this one would be lost. */
function reset({ response, onCut }) {
  onCut();
  setImmediate(() => response.socket?.resetAndDestroy());
}

const middle = ({ answer: { parts } }) => Math.ceil(parts.length / 2);
const half = (to) => to.answer.parts.slice(0, middle(to));
const rest = (to) => to.answer.parts.slice(middle(to));
