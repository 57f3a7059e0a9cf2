import { importPeer } from '../../support/places.mjs';
import { table } from '../../support/table.mjs';
import { openSilentStream } from './silentStream.mjs';

const limitMs = 1_000;
const patienceMs = 2_000;

/** What each peer does with a stream that falls silent for ever, with its options at one second: the facts behind the table in README.md. */
export async function showSilence() {
  console.log(`## A stream that says one delta, and then nothing: after ${patienceMs / 1000} s\n`);
  const stream = await openSilentStream();
  const cases = { ...(await ofOpenai(stream)), ...(await ofAi(stream)), ...(await ofLangchain(stream)) };
  const seen = [];
  // One after the other: a limit that fires before the stream has begun shows something else.
  for (const [name, ask] of Object.entries(cases)) seen.push([name, await outcomeOf(ask())]);
  stream.close();
  console.log(`${table(['contestant', 'outcome'], seen)}\n`);
  return Object.fromEntries(seen);
}

async function ofOpenai({ baseURL }) {
  const { default: OpenAI } = await importPeer('openai');
  const { completions } = new OpenAI({ apiKey: 'sk-bench', baseURL, timeout: limitMs }).chat;
  const ask = async (options) => textOf(await completions.create({ model: 'bench', messages: [{ role: 'user', content: 'x' }], stream: true }, options), ({ choices }) => choices[0].delta.content);
  return { 'openai, timeout': () => ask(), 'openai, aborted by the application': () => ask({ signal: AbortSignal.timeout(limitMs) }) };
}

async function ofAi({ baseURL }) {
  const [{ streamText }, { createOpenAICompatible }] = await Promise.all([importPeer('ai'), importPeer('@ai-sdk/openai-compatible')]);
  const model = createOpenAICompatible({ name: 'source', apiKey: 'sk-bench', baseURL })('bench');
  const ask = (options) => streamText({ model, prompt: 'x', onError() {}, ...options });
  const limited = { timeout: { chunkMs: limitMs } };
  return {
    'ai, no time-out, textStream': () => textOf(ask().textStream, (text) => text),
    'ai, chunkMs, textStream': () => textOf(ask(limited).textStream, (text) => text),
    'ai, chunkMs, parts of fullStream': () => textOf(ask(limited).fullStream, ({ type }) => `${type} `),
    'ai, chunkMs, await text': () => ask(limited).text,
  };
}

async function ofLangchain({ baseURL }) {
  const { ChatOpenAI } = await importPeer('@langchain/openai');
  const model = new ChatOpenAI({ model: 'bench', apiKey: 'sk-bench', timeout: limitMs, configuration: { baseURL } });
  const ask = async (runnable, options) => textOf(await runnable.stream('x', options), ({ content }) => content);
  return {
    'langchain, timeout of the model': () => ask(model),
    'langchain, timeout of the call': () => ask(model, { timeout: limitMs }),
    'langchain, timeout of the call, withFallbacks over the bare model': () => ask(model.withConfig({ timeout: limitMs }).withFallbacks({ fallbacks: [model] })),
  };
}

async function textOf(stream, read) {
  let text = '';
  for await (const item of stream) text += read(item) ?? '';
  return text;
}

function outcomeOf(text) {
  const waiting = new Promise((resolve) => setTimeout(resolve, patienceMs, 'still waiting'));
  return Promise.race([Promise.resolve(text).then((whole) => `ended: "${whole.trim()}"`, (error) => `error: ${error.name}: ${error.message}`), waiting]);
}
