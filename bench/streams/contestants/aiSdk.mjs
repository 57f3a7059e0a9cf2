import { importPeer } from '../../support/places.mjs';
import { apiKey, messages, model, perBaseUrl } from './request.mjs';

export async function open() {
  const { streamText } = await importPeer('ai');
  const { createOpenAICompatible } = await importPeer('@ai-sdk/openai-compatible');
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const modelFor = perBaseUrl((baseURL) => createOpenAICompatible({ name: 'mock', apiKey, baseURL, includeUsage: true })(model));
  const [{ content: system }, ...rest] = messages;
  return {
    async call(baseUrl, onText) {
      let failed;
      const { textStream } = streamText({ model: modelFor(baseUrl), system, messages: rest, maxRetries: 0, onError: ({ error }) => (failed = error) });
      for await (const text of textStream) onText(text);
      if (failed !== undefined) throw failed;
    },
    close: () => undefined,
  };
}
