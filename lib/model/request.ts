import { z } from 'zod';
import { RequestError } from './errors.js';
import { firstOf } from './firstOf.js';

const message = z.looseObject({ role: z.string().min(1) });
const count = z.number().int().positive();

const requestSchema = z.looseObject({
  messages: z.array(message).min(1),
  model: z.string().min(1).nullish(),
  stream: z.boolean().nullish(),
  n: z.number().int().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: count.nullish(),
  max_completion_tokens: count.nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tags: z.record(z.string(), z.string()).optional(),
});

/** A part of a message that consists of several; fields that are not listed travel on unchanged. */
export type ContentPart =
  | TextPart
  | { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' }; [field: string]: any }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' }; [field: string]: any }
  | { type: 'file'; file: { file_data?: string; file_id?: string; filename?: string }; [field: string]: any };

/** A text among the parts of a message. */
export interface TextPart {
  type: 'text';
  text: string;
  [field: string]: any;
}

/** A message of a request, as OpenAI defines it; fields that are not listed travel on unchanged. */
export type ChatMessage =
  | { role: 'system' | 'developer'; content: string | TextPart[]; name?: string; [field: string]: any }
  | { role: 'user'; content: string | ContentPart[]; name?: string; [field: string]: any }
  | { role: 'assistant'; content?: string | (TextPart | { type: 'refusal'; refusal: string })[] | null; refusal?: string | null; tool_calls?: MessageToolCall[]; [field: string]: any }
  | ToolMessage
  | { role: 'function'; name: string; content: string | null; [field: string]: any };

/** A tool call in a message that is sent back; fields that are not listed travel on unchanged. */
export type MessageToolCall =
  | { id: string; type: 'function'; function: { name: string; arguments: string }; [field: string]: any }
  | { id: string; type: 'custom'; custom: { name: string; input: string }; [field: string]: any };

/** What a tool call has given, for the model to read. */
export interface ToolMessage {
  role: 'tool';
  /** The `id` of the call. */
  tool_call_id: string;
  content: string | TextPart[];
  [field: string]: any;
}

/** A function that the model may call; `parameters` is its JSON Schema. */
export interface FunctionTool {
  type: 'function';
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean | null };
}

/** What the model may call. */
export type ChatTool = FunctionTool | { type: 'custom'; custom: { name: string; description?: string; format?: any } };

/** Whether the model may call a tool, has to, and which. */
export type ToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { type: 'function'; function: { name: string } }
  | { type: 'custom'; custom: { name: string } }
  | { type: 'allowed_tools'; allowed_tools: { mode: 'auto' | 'required'; tools: Record<string, unknown>[] } };

/** The form of the answer; `json_schema` binds it to a JSON Schema. */
export type ResponseFormat = { type: 'text' } | { type: 'json_object' } | JsonSchemaFormat;

/** An answer that is JSON of this schema. */
export interface JsonSchemaFormat {
  type: 'json_schema';
  json_schema: { name: string; description?: string; schema?: Record<string, unknown>; strict?: boolean | null };
}

/** What a request says beside its messages and tools; fields that are not listed travel on unchanged. */
export interface ChatParameters {
  /** Default: each source has its own. */
  model?: string | null;
  /** Default `true`, since only a stream can be watched. */
  stream?: boolean | null;
  temperature?: number | null;
  top_p?: number | null;
  /** The most tokens of the answer; newer models of OpenAI want `max_completion_tokens` instead. */
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  /** For telemetry; they do not go upstream. */
  tags?: Record<string, string>;
  // `any`, since TypeScript lets no interface (such as those of the `openai` package) into an index of `unknown`.
  [field: string]: any;
}

/**
 * The OpenAI Chat Completions request body; fields that are not listed travel on unchanged, so that a misspelt one is not
 * noticed here. `model` may be left out (each source has its own), `stream` defaults to `true`, `tags` go to telemetry and
 * not upstream. With a `model` it is also what the `openai` package takes.
 *
 *     const request: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }], temperature: 0 };
 */
export interface ChatRequest extends ChatParameters {
  messages: ChatMessage[];
  tools?: ChatTool[];
  tool_choice?: ToolChoice;
  response_format?: ResponseFormat;
  /** Texts at which the answer ends. */
  stop?: string | string[] | null;
}

/** Any text beside known words: an editor goes on offering those, as it would not beside `string`. */
type Word = string & {};

/**
 * What can be asked: every `ChatRequest`, and a body of which TypeScript knows less, such as roles widened to `string`, lists
 * that are `readonly`, and roles, parts and tools of a provider's own.
 */
export interface LooseChatRequest extends ChatParameters {
  messages: readonly { role: ChatMessage['role'] | Word; [field: string]: any }[];
  tools?: readonly { type: ChatTool['type'] | Word; [field: string]: any }[] | null;
  tool_choice?: 'none' | 'auto' | 'required' | Word | { type: Word; [field: string]: any } | null;
  response_format?: { type: ResponseFormat['type'] | Word; [field: string]: any } | null;
}

/** A request that was checked and copied; `stream` is always said. */
export interface ValidRequest extends LooseChatRequest {
  stream: boolean;
}

/**
 * Checks a request before anything is sent, and copies it, so that a later change by the caller is not seen.
 * Throws `RequestError`, which names the fields that are wrong, the first twenty of many.
 */
export function parseRequest(request: unknown): ValidRequest {
  const copy = parseBody(requestSchema, request) as LooseChatRequest;
  const { n } = copy as { n?: unknown };
  if (typeof n === 'number' && n !== 1) {
    throw new RequestError(`the request was not sent: n is ${n}, but one call gives one answer; make ${n} calls`);
  }
  return { ...copy, stream: copy.stream ?? true };
}

/** The same for an answer that is to be passed on as it comes: only a stream can be. */
export function parseStreamRequest(request: unknown): ValidRequest {
  const valid = parseRequest(request);
  if (!valid.stream) throw new RequestError('the request was not sent: stream is false, but only a stream can be passed on; leave it out, or ask with chat$');
  return valid;
}

/** A checked copy of a request body; what does not fit the schema throws `RequestError`, which tells the first faults. */
export function parseBody(schema: z.ZodType, request: unknown): unknown {
  const checked = schema.safeParse(request);
  if (!checked.success) {
    const problems = checked.error.issues.map((issue) => `${issue.path.join('.') || 'the request'}: ${issue.message}`);
    throw new RequestError(`the request was not sent: ${firstOf(problems).join('; ')}`);
  }
  try {
    return JSON.parse(JSON.stringify(request)) as unknown;
  } catch (cause) {
    throw new RequestError('the request was not sent: it cannot be written as JSON', { cause });
  }
}
