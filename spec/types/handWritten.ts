import type { ChatMessage, ChatRequest, Gateway, LooseChatRequest } from '../../lib/index.js';

declare const gateway: Gateway;
declare const text: string;

/** A literal keeps its words in place, and is checked. */
export const request: ChatRequest = {
  messages: [
    { role: 'developer', content: 'Be short.' },
    { role: 'user', content: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }, { type: 'image_url', image_url: { url: text } }] },
    { role: 'assistant', content: null, tool_calls: [{ id: '1', type: 'function', function: { name: 'look', arguments: '{}' }, thought_signature: 's' }] },
    { role: 'tool', tool_call_id: '1', content: 'rain' },
  ],
  tool_choice: 'required',
  response_format: { type: 'json_object' },
  tags: { job: '7' },
  provider_field: { anything: true },
};

// @ts-expect-error no such role
export const wrongRole: ChatMessage = { role: 'robot', content: text };
// @ts-expect-error a tool's message says which call it answers
export const withoutCall: ChatMessage = { role: 'tool', content: text };
// @ts-expect-error no such part
export const wrongPart: ChatMessage = { role: 'user', content: [{ type: 'smell', text }] };
// @ts-expect-error no such choice
export const wrongChoice: ChatRequest = { messages: [], tool_choice: 'maybe' };
// @ts-expect-error no such format
export const wrongFormat: ChatRequest = { messages: [], response_format: { type: 'xml' } };
// @ts-expect-error nothing to ask
export const nothing: LooseChatRequest = {};
// @ts-expect-error a message has a role
export const withoutRole: LooseChatRequest = { messages: [{ content: text }] };
// @ts-expect-error tags are texts
export const wrongTags: LooseChatRequest = { messages: [], tags: { job: 7 } };

/** An index of any fields lets a misspelt one through: it may be a provider's own. */
export const misspelt: ChatRequest = { messages: [], tempreature: 1 };

/** What TypeScript has widened, or holds to be read-only, can be asked all the same. */
export function askLoosely(): void {
  const messages = [{ role: 'user', content: text }];
  const frozen: readonly { readonly role: string; readonly content: string }[] = messages;
  void gateway.chat$({ messages, response_format: { type: text }, tool_choice: text, tools: null });
  void gateway.chat({ messages: frozen, stop: ['\n'] });
  void gateway.stream$({ messages: [...messages, { role: 'ipython', content: [{ type: 'video_url', video_url: { url: text } }] }] });
  void gateway.stream({ messages, tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } });
}
