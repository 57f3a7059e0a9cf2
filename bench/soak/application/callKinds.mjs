import { setTimeout as sleep } from 'node:timers/promises';
import { importBuilt } from '../../support/places.mjs';
import { inputsOf, markOf, textOf, vectorOf } from '../answers.mjs';

const { toReadableStream } = await importBuilt('index.js');

/**
 * The ways in which an application calls. Each is given `{ scopes, call, random, options }` and answers `left` or what came; it fails
 * with what the call fails with. A wrong answer is an error of its own.
 */
export const callKinds = {
  chat: async ({ call, chat, options, random }) => right(call, await chat.chat({ ...asks(call), stream: random() < 0.8 }, options)),
  chat$: (to) => subscribed(to.chat.chat$(asks(to.call), to.options), to, (response) => right(to.call, response)),
  stream$: (to) => subscribed(to.chat.stream$(asks(to.call), to.options), to, checkItems(to.call)),
  stream: (to) => read(to.chat.stream(asks(to.call), to.options), to),
  webStream: (to) => readWeb(to),
  embed: async ({ scopes, call, options }) => rightVectors(call, await scopes.embedding.embed({ input: inputsOf(call), tags: tagsOf(call) }, options)),
  embed$: (to) => subscribed(to.scopes.embedding.embed$({ input: inputsOf(to.call), tags: tagsOf(to.call) }, to.options), to, (response) => rightVectors(to.call, response)),
  ocr: async ({ scopes, call, options }) => rightPages(call, await scopes.ocr.ocr(document(call), options)),
};

const tagsOf = (call) => ({ call: String(call) });
const asks = (call) => ({ messages: [{ role: 'user', content: markOf(call) }], tags: tagsOf(call) });
const document = (call) => ({ document: { type: 'document_url', document_url: `https://documents.test/${markOf(call)}.pdf` }, tags: tagsOf(call) });

/** To the end, or until the subscriber leaves at a random moment. */
function subscribed(answer$, { random }, check) {
  return new Promise((resolve, reject) => {
    const subscription = answer$.subscribe({ next: check, error: reject, complete: () => resolve('answered') });
    const timer = random() < 0.25 ? setTimeout(() => subscription.unsubscribe(), 600 * random()) : undefined;
    subscription.add(() => {
      clearTimeout(timer);
      resolve('left');
    });
  });
}

/** Some read slowly, some stop for a while at the first item, some leave in the middle, some with a read pending. */
async function read(items, { call, random }) {
  const check = checkItems(call);
  const [isSlow, leavesAt, napMs] = [random() < 0.2, random() < 0.2 ? Math.floor(20 * random()) : Infinity, random() < 0.3 ? 400 * random() : 0];
  let count = 0;
  for await (const item of items) {
    check(item);
    if (count === leavesAt) return 'left';
    if (count === 1) await sleep(napMs);
    if (isSlow && count < 20) await sleep(20 * random());
    count += 1;
  }
  return 'answered';
}

/** With little patience, so that some readers are given up. */
async function readWeb({ chat, call, random, options }) {
  const stream = toReadableStream((held$) => chat.stream$(asks(call), { ...options, held$ }), { maxWaiting: 8, patienceS: 0.2 });
  if (random() < 0.7) return read(stream, { call, random });
  const reader = stream.getReader();
  const timer = setTimeout(() => reader.cancel(), 300 * random());
  try {
    for (const check = checkItems(call); ; ) {
      const { done, value } = await reader.read();
      if (done) return 'answered or left';
      check(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

function checkItems(call) {
  let text = '';
  return (item) => {
    if (item.type === 'content') text += item.text;
    if (item.type === 'end') right(call, { content: text });
    if (item.type === 'end') right(call, item.response);
  };
}

function right(call, { content }) {
  if (content === textOf(call)) return 'answered';
  throw new Error(`call ${call} was answered wrongly: ${content.length} characters, ${JSON.stringify(content.slice(0, 80))}`);
}

function rightVectors(call, { vectors }) {
  const expected = JSON.stringify(inputsOf(call).map((_, at) => vectorOf(call, at)));
  const given = JSON.stringify(vectors.map((vector) => [...vector]));
  if (given === expected) return 'answered';
  throw new Error(`call ${call} was given the vectors ${given}, not ${expected}`);
}

function rightPages(call, { pages }) {
  return right(call, { content: pages.map(({ markdown }) => markdown).join('') });
}
