import { readChunks } from './readChunks.mjs';

export const open = () => ({
  call: (baseUrl, onText) =>
    new Promise((onEnd, onError) => {
      const onChunk = (chunk) => {
        const text = chunk.choices[0]?.delta.content;
        if (text) onText(text);
      };
      void readChunks(baseUrl, { onChunk, onEnd, onError });
    }),
  close: () => undefined,
});
