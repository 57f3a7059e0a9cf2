import { importPeer } from '../../support/places.mjs';
import { apiKey, messages, model, perBaseUrl } from './request.mjs';

export async function open() {
  process.env.LANGCHAIN_TRACING_V2 = 'false';
  const { ChatOpenAI } = await importPeer('@langchain/openai');
  const modelFor = perBaseUrl((baseURL) => new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL } }));
  return {
    async call(baseUrl, onText) {
      const stream = await modelFor(baseUrl).stream(messages);
      for await (const { content } of stream) if (content) onText(content);
    },
    close: () => undefined,
  };
}
