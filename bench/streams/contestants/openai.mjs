import { importPeer } from '../../support/places.mjs';
import { apiKey, messages, model, perBaseUrl } from './request.mjs';

export async function open() {
  const { default: OpenAI } = await importPeer('openai');
  const clientFor = perBaseUrl((baseURL) => new OpenAI({ apiKey, baseURL, maxRetries: 0 }));
  return {
    async call(baseUrl, onText) {
      const stream = await clientFor(baseUrl).chat.completions.create({ model, stream: true, stream_options: { include_usage: true }, messages });
      for await (const chunk of stream) {
        const text = chunk.choices[0]?.delta.content;
        if (text) onText(text);
      }
    },
    close: () => undefined,
  };
}
