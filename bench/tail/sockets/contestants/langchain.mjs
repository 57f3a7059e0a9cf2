import { importPeer } from '../../../support/places.mjs';
import { scaledMs } from '../timeScale.mjs';
import { openWatchdog } from '../watchdog.mjs';

const [{ ChatOpenAI }, { RunnableLambda }] = await Promise.all([importPeer('@langchain/openai'), importPeer('@langchain/core/runnables')]);

/**
 * `withFallbacks` over chains that each read their model's stream to its end: over bare models it would fall back only until the
 * first chunk. `timeoutS` is LangChain's own, of the whole try; `silenceS` is a chunk time-out, which it has in Python only.
 */
export function open({ urls, timeoutS, silenceS }) {
  const timeout = timeoutS && scaledMs(timeoutS);
  const silenceMs = silenceS && scaledMs(silenceS);
  const [first, ...fallbacks] = urls.map((baseURL) => {
    const model = new ChatOpenAI({ model: 'bench', apiKey: 'sk-bench', configuration: { baseURL } });
    return RunnableLambda.from((content) => (silenceMs === undefined ? read(model, content, { timeout }) : readWatched(model, content, silenceMs)));
  });
  const chain = first.withFallbacks({ fallbacks });
  return { ask: (content) => chain.invoke(content) };
}

// By a signal: to leave the stream would close it only when its next chunk has come.
async function readWatched(model, content, silenceMs) {
  const { signal, heard, stop } = openWatchdog(silenceMs);
  try {
    return await read(model, content, { signal }, heard);
  } finally {
    stop();
  }
}

async function read(model, content, options, heard = () => undefined) {
  let text = '';
  for await (const chunk of await model.stream(content, options)) {
    heard();
    text += chunk.content;
  }
  return text;
}
