import { callIn, piecesOf, textOf, vectorOf } from '../answers.mjs';

/** A right answer to this request: its type, and its body in pieces. */
export function rightAnswer({ path, body }) {
  const call = callIn(body);
  if (path.endsWith('/embeddings')) return whole(embeddings(call, JSON.parse(body).input));
  if (path.endsWith('/ocr')) return whole({ pages: [{ index: 0, markdown: textOf(call) }], model: 'm' });
  if (JSON.parse(body).stream === true) return { type: 'text/event-stream', parts: frames(call) };
  return whole({ id: 'x', object: 'chat.completion', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: textOf(call) }, finish_reason: 'stop' }], usage });
}

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

function embeddings(call, inputs) {
  const at = (input) => Number(/item-(\d+)/.exec(input)[1]);
  return { object: 'list', model: 'm', data: inputs.map((input, index) => ({ object: 'embedding', index, embedding: vectorOf(call, at(input)) })), usage };
}

function frames(call) {
  const choices = [{ delta: { role: 'assistant', content: '' } }, ...piecesOf(call).map((content) => ({ delta: { content } })), { delta: {}, finish_reason: 'stop' }];
  return [...choices.map((choice) => frame({ choices: [{ index: 0, finish_reason: null, ...choice }] })), frame({ choices: [], usage }), 'data: [DONE]\n\n'];
}

export function frame(fields) {
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`;
}

function whole(fields) {
  const text = JSON.stringify(fields);
  const quarter = Math.ceil(text.length / 4);
  return { type: 'application/json', parts: [0, 1, 2, 3].map((at) => text.slice(at * quarter, (at + 1) * quarter)) };
}
