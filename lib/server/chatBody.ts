import type { ChatRequest } from '../model/request.js';
import { asRecord } from '../wire/jsonFields.js';
import { requestFields, wrongField } from './requestFields.js';

/** What a client asks for. */
export interface AskedChat {
  /** Always a stream, since only a stream can be watched and hedged. */
  readonly request: ChatRequest;
  /** The client wants a stream too, and the tokens at its end. */
  readonly streamed: boolean;
  readonly wantsUsage: boolean;
}

/** Reads the body of a chat request; what is not looked at here is checked by the gateway. Throws `RequestError`. */
export function readChatBody(body: unknown): AskedChat {
  const { stream, stream_options: given, ...fields } = requestFields(body);
  const streamed = flag('stream', stream);
  const options = asRecord(given);
  if (given !== undefined && given !== null && options === undefined) throw wrongField('stream_options', 'must be an object');
  return {
    request: { ...fields, stream: true, ...(options === undefined ? {} : { stream_options: { ...options, include_usage: true } }) } as unknown as ChatRequest,
    streamed,
    wantsUsage: flag('stream_options.include_usage', options?.['include_usage']),
  };
}

function flag(field: string, value: unknown): boolean {
  if (value !== undefined && value !== null && typeof value !== 'boolean') throw wrongField(field, 'must be true or false');
  return value === true;
}
