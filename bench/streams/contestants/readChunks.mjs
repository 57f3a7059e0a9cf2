import { createParser } from 'eventsource-parser';
import { Agent, request } from 'undici';
import { apiKey, messages, model } from './request.mjs';

const body = JSON.stringify({ model, stream: true, stream_options: { include_usage: true }, messages });
const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}`, accept: 'text/event-stream' };
const dispatcher = new Agent({ connections: null, pipelining: 1, bodyTimeout: 300_000, headersTimeout: 300_000 });

/** The least that a usable client does: undici, eventsource-parser, JSON.parse. */
export async function readChunks(baseUrl, { onChunk, onEnd, onError, signal }) {
  try {
    const response = await request(`${baseUrl}/chat/completions`, { method: 'POST', headers, body, dispatcher, signal });
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    const parser = createParser({
      onEvent({ data }) {
        if (data !== '[DONE]') onChunk(JSON.parse(data));
      },
    });
    const decoder = new TextDecoder();
    response.body.on('data', (bytes) => parser.feed(decoder.decode(bytes, { stream: true })));
    response.body.on('error', onError);
    response.body.on('end', onEnd);
  } catch (error) {
    onError(error);
  }
}
