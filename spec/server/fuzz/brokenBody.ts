import type { Choose } from './random.js';

export interface BrokenBody {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** JSON texts of values that nobody expects; some cannot be made from a value. */
const values: readonly string[] = [
  'null', 'true', 'false', '0', '-0', '-1', '1.5', '1e999', '-1e999', '123456789012345678901234567890', '1e-400', '""', '" "', '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"text"', '"\\u202e\\ufeff"',
  '[]', '{}', '[[]]', '[null]', '[{}]', '{"":""}', '{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}', '{"toString":1,"valueOf":2,"toJSON":3,"then":4,"length":-1}',
  '{"a":1,"a":2}', `"${'x'.repeat(5000)}"`, `${'['.repeat(5000)}${']'.repeat(5000)}`, `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`, `[${'1,'.repeat(1000)}1]`, '{"type":"text"}', '[{"type":"image_url","image_url":null}]', '"user"', '{"role":"user"}',
];

const chat = {
  model: 'm',
  messages: [{ role: 'system', content: 'be brief' }, { role: 'user', content: [{ type: 'text', text: 'x' }] }, { role: 'assistant', content: null, tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }] }, { role: 'tool', tool_call_id: '1', content: 'y' }],
  stream: false,
  stream_options: { include_usage: true },
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
  tool_choice: 'auto',
  temperature: 1,
  max_tokens: 5,
  n: 1,
  stop: ['a'],
  response_format: { type: 'json_object' },
  logit_bias: { 1: 2 },
  metadata: { a: 'b' },
  tags: { a: 'b' },
  user: 'u',
};
const embedding = { model: 'm', input: ['x', 'y'], encoding_format: 'float', dimensions: 3, user: 'u', tags: { a: 'b' } };

const chatPath = '/v1/chat/completions';
const embeddingPath = '/v1/embeddings';
const json = { 'content-type': 'application/json' };

/** A request in whole HTTP whose body, or what is said of it, is broken in one or several ways; some are right after all. */
export function brokenBody(choose: Choose): BrokenBody {
  const { oneOf, below } = choose;
  const path = oneOf([chatPath, chatPath, embeddingPath]);
  const text = withStrangers(path === chatPath ? { ...chat, stream: below(2) === 0 } : embedding, 1 + below(3), choose);
  switch (oneOf(['fields', 'fields', 'fields', 'whole', 'text', 'bytes', 'type', 'headers'])) {
    case 'whole':
      return { path, headers: json, body: Buffer.from(oneOf(values)) };
    case 'text':
      return { path, headers: json, body: Buffer.from(brokenText(text, choose)) };
    case 'bytes':
      return { path, headers: json, body: Buffer.from(oneOf([choose.bytes(below(500)), text.replace('u', '\xff\xfe'), `\xef\xbb\xbf${text}`]), 'latin1') };
    case 'type':
      return { path, headers: oneOf([{}, { 'content-type': '' }, { 'content-type': 'text/plain' }, { 'content-type': 'multipart/form-data; boundary=' }, { 'content-type': 'application/json; charset=utf-16' }, { 'content-type': 'application/jsonx' }, { 'content-type': '/;=' }, { 'content-type': 'application/x-www-form-urlencoded' }]), body: Buffer.from(text) };
    case 'headers':
      return { path, headers: { ...json, ...oneOf([{ 'x-polygateway-delivery': 'nonsense' }, { 'x-polygateway-delivery': '' }, { 'content-encoding': 'br' }, { 'x-request-id': '\x01'.replace('\x01', 'a\tb') }, { accept: '*/*;q=x' }, { 'x-api-key': 'k'.repeat(8000) }, { origin: 'null' }, { host: 'evil.example' }]) }, body: Buffer.from(text) };
    default:
      return { path, headers: json, body: Buffer.from(text) };
  }
}

/** The JSON of a body in which some values, at any depth, are strangers. */
function withStrangers(body: unknown, count: number, { below, oneOf }: Choose): string {
  const copy = structuredClone(body) as object;
  const chosen: string[] = [];
  for (let left = count; left > 0; left -= 1) {
    let place = copy as Record<string, unknown>;
    for (;;) {
      const keys = Object.keys(place);
      const key = keys.length === 0 || below(12) === 0 ? oneOf(['__proto__x', 'unknown', 'name', 'tags', 'messages']) : oneOf(keys);
      const next = place[key];
      if (typeof next === 'object' && next !== null && below(3) > 0) place = next as Record<string, unknown>;
      else {
        place[key] = `@${chosen.push(oneOf(values)) - 1}@`;
        break;
      }
    }
  }
  return JSON.stringify(copy).replace(/"@(\d+)@"/g, (_all, at: string) => chosen[Number(at)]!).replace('"__proto__x"', '"__proto__"');
}

function brokenText(text: string, { oneOf, below }: Choose): string {
  const at = below(text.length);
  return oneOf([text.slice(0, at), `${text.slice(0, at)}${oneOf(['}', ']', ',', '"', '\\', '\n', '/*x*/', 'undefined'])}${text.slice(at)}`, `${text}${text}`, '', ' ', '{', '[', '['.repeat(20_000), `${'['.repeat(20_000)}${']'.repeat(20_000)}`, text.replaceAll('"', "'"), `{"model":"m",${text.slice(1)}`]);
}
