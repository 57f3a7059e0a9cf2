// What a provider's stream looks like on the wire: frames of 287 bytes with six characters of content each.
const head =
  '"id":"chatcmpl-9f8e7d6c5b4a39281706f5e4d3c2b1a0","object":"chat.completion.chunk","created":1764460800,"model":"mock-large-2",' +
  '"service_tier":"default","system_fingerprint":"fp_0123456789"';
const frame = (rest) => `data: {${head},${rest}}\n\n`;
const contentFrame = (content) => frame(`"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"logprobs":null,"finish_reason":null}]`);

// 64 different words, so that no client profits from one constant text.
const words = Array.from({ length: 64 }, (_, at) => ` ${((at * 2_654_435_761) >>> 0).toString(36)}tokenword`.slice(0, 6));

/** The content of a reply of that many deltas, for whoever checks it. */
export const contentOf = (deltas) => Array.from({ length: deltas }, (_, at) => words[at % words.length]).join('');

export const firstFrame = frame('"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]');

export const lastFrames = (deltas) =>
  frame('"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]') +
  frame(`"choices":[],"usage":{"prompt_tokens":57,"completion_tokens":${deltas},"total_tokens":${57 + deltas}}`) +
  'data: [DONE]\n\n';

export const frameAt = (at) => contentFrame(words[at % words.length]);

/** A frame whose content is the time of its writing: an @ and 16 digits. */
export const stampedFrame = (us) => `${stamped[0]}${String(us).padStart(16, '0')}${stamped[1]}`;
export const stampLength = 17;

const template = contentFrame('@');
const cut = template.indexOf('@"') + 1;
const stamped = [template.slice(0, cut), template.slice(cut)];

/** The text as one chunk of HTTP's chunked encoding. */
export const chunked = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
