import { importPeer } from '../../../support/places.mjs';
import { scaledMs } from '../timeScale.mjs';
import { openWatchdog } from '../watchdog.mjs';

const { default: OpenAI } = await importPeer('openai');
const documentedTimeoutS = 600;
const tries = 3;

/** The SDK with its own retries. With `silenceS`, an application's watchdog: it aborts and asks again; its last try may take as long as it takes. */
export function open({ urls: [baseURL], silenceS }) {
  const client = new OpenAI({ apiKey: 'sk-bench', baseURL, timeout: scaledMs(documentedTimeoutS) });
  const silenceMs = silenceS && scaledMs(silenceS);
  return { ask: (content) => (silenceMs === undefined ? read(client, content, openWatchdog()) : askAgain(client, content, silenceMs)) };
}

async function askAgain(client, content, silenceMs) {
  for (let nth = 1; nth < tries; nth += 1) {
    const watchdog = openWatchdog(silenceMs);
    try {
      return await read(client, content, watchdog);
    } catch (error) {
      if (!watchdog.signal.aborted) throw error;
    } finally {
      watchdog.stop();
    }
  }
  return read(client, content, openWatchdog());
}

async function read(client, content, { signal, heard }) {
  const stream = await client.chat.completions.create({ model: 'bench', messages: [{ role: 'user', content }], stream: true }, { signal });
  let text = '';
  for await (const chunk of stream) {
    heard();
    text += chunk.choices[0]?.delta.content ?? '';
  }
  // The iterator of an aborted stream just ends.
  signal.throwIfAborted();
  return text;
}
