import { importPeer } from '../../../support/places.mjs';
import { scaledMs } from '../timeScale.mjs';

const [{ streamText }, { createOpenAICompatible }] = await Promise.all([importPeer('ai'), importPeer('@ai-sdk/openai-compatible')]);
globalThis.AI_SDK_LOG_WARNINGS = false;
const tries = 3;

/**
 * `streamText` with its chunk time-out; when that has fired, the next model is asked, in a call of its own, since the time-out ends the
 * first for good. The last try has no time-out, so that no call fails.
 */
export function open({ urls, silenceS }) {
  const models = urls.map((baseURL, nth) => createOpenAICompatible({ name: `source-${nth}`, apiKey: 'sk-bench', baseURL })('bench'));
  return {
    async ask(content) {
      for (let nth = 0; nth < tries - 1; nth += 1) {
        const text = await read(models[nth % models.length], content, { chunkMs: scaledMs(silenceS) });
        if (text !== undefined) return text;
      }
      return read(models[(tries - 1) % models.length], content);
    },
  };
}

/** The text, or undefined where the time-out ended it, which the stream tells by a part of type `abort` and not by an error. */
async function read(model, prompt, timeout) {
  let text = '';
  for await (const part of streamText({ model, prompt, timeout, onError() {} }).fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') return undefined;
    if (part.type === 'text-delta') text += part.text;
  }
  return text;
}
