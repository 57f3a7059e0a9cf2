import { expect, test } from '@jest/globals';
import type { ChatRequest, ChatResponse, LooseChatRequest } from '../lib/index.js';
import { parseRequest } from '../lib/model/request.js';

// Interfaces without index signatures, as those of the openai package are.
interface UserMessage { role: 'user'; content: string | { type: 'text'; text: string }[] }
interface ToolMessage { role: 'tool'; tool_call_id: string; content: string }
interface FunctionTool { type: 'function'; function: { name: string; parameters?: Record<string, unknown> } }
interface Body { model: string; messages: (UserMessage | ToolMessage)[]; tools?: FunctionTool[]; stream?: boolean | null; n?: number | null; temperature?: number | null }

const body: Body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [{ type: 'function', function: { name: 'f' } }], stream: null, n: null };

test('what one passes to the openai package is a request, by its types and at run time', () => {
  const request: ChatRequest = body;
  expect(parseRequest(request)).toMatchObject({ stream: true, model: 'm', n: null });
});

test('the message of a response can be appended to the messages of the next request', () => {
  const append = (messages: ChatRequest['messages'], { message }: Pick<ChatResponse, 'message'>): ChatRequest => ({ messages: [...messages, message] });
  const next = append(body.messages, { message: { role: 'assistant', content: 'hello' } });
  expect(parseRequest(next).messages).toHaveLength(2);
});

test('a request in which TypeScript has widened the roles can be asked too', () => {
  const messages = [{ role: 'user', content: 'hi' }];
  const request: LooseChatRequest = { messages };
  expect(parseRequest(request)).toEqual({ messages, stream: true });
});

test('a request is copied, so that what the caller does to it later is not seen', () => {
  const mine = { messages: [{ role: 'user', content: 'hi' }] };
  const copy = parseRequest(mine);
  mine.messages.push({ role: 'user', content: 'more' });
  expect(copy.messages).toHaveLength(1);
});

test.each([
  ['no messages', { messages: [] }, 'messages'],
  ['n > 1', { ...body, n: 3 }, 'make 3 calls'],
  ['a temperature that is no number', { ...body, temperature: Number.NaN }, 'temperature'],
  ['tags that are no texts', { ...body, tags: { a: 1 } }, 'tags.a'],
])('%s is refused before anything is sent, and the message names it', (_what, request, named) => {
  const refused = ((): unknown => {
    try {
      return parseRequest(request);
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toMatchObject({ code: 'request' });
  expect((refused as Error).message).toContain(named);
});
