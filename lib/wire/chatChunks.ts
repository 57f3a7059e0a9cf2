import type { ChatDelta } from '../model/delta.js';
import type { ChatResponse } from '../model/response.js';
import type { StreamItem } from '../model/streamItem.js';
import type { Usage } from '../model/usage.js';
import { completionId, createdS } from './chatCompletion.js';
import type { FinishReason, TokenLogprobs } from './chatCompletion.js';
import { createToolCallChunks } from './toolCallChunks.js';
import type { ToolCallChunk, ToolCallChunks } from './toolCallChunks.js';
import type { CompletionUsage } from './usageBody.js';

/** OpenAI's `chat.completion.chunk`, assignable to the `openai` package's type of it. */
export interface ChatCompletionChunk extends ChunkHead {
  /** One; none in the chunk that tells the tokens. */
  choices: ChunkChoice[];
  /** Absent where tokens were not asked for; `null` in every chunk but the one that tells them. */
  usage?: CompletionUsage | null;
}

/** What every chunk of an answer says. */
export interface ChunkHead {
  id: string;
  object: 'chat.completion.chunk';
  /** In seconds since 1970. */
  created: number;
  model: string;
}

/** What is new of an answer; `finish_reason` is `null` until its end. */
export interface ChunkChoice {
  index: number;
  delta: ChunkDelta;
  /** As the provider sent them; `null` where it sent none. */
  logprobs: TokenLogprobs | null;
  finish_reason: FinishReason | null;
}

/** The fields of the message that a chunk adds to; what is absent did not grow. */
export interface ChunkDelta {
  /** Absent but in the first chunk. */
  role?: 'assistant';
  content?: string;
  reasoning_content?: string;
  refusal?: string;
  tool_calls?: ToolCallChunk[];
  [field: string]: unknown;
}

/** Takes what an answer's chunks consist of. The head is the same object until the model's name changes. */
export interface ChunkWriter {
  choice(this: void, head: ChunkHead, choice: ChunkChoice): void;
  end(this: void, head: ChunkHead, usage: Usage | null): void;
}

/** An answer in OpenAI's words, a choice for each frame of the source that brought something. */
export interface ChatChunks {
  add(this: void, item: StreamItem): void;
  /** Writes what is known of a frame, which may not have ended. */
  flush(this: void): void;
}

type Frame = Pick<ChunkChoice, 'delta' | 'logprobs'>;

export function createChatChunks({ choice, end }: ChunkWriter): ChatChunks {
  const tools = createToolCallChunks();
  let head: ChunkHead = { id: '', object: 'chat.completion.chunk', created: createdS(), model: '' };
  let hasBegun = false;
  let frame: Frame | undefined;

  function writeChoice({ delta, logprobs }: Frame, finishReason: string | null = null): void {
    // Clients that add chunks up count the probabilities of a first one twice, so none stand there.
    if (!hasBegun && logprobs !== null) writeChoice({ delta: {}, logprobs: null });
    const said: ChunkDelta = hasBegun ? delta : { role: 'assistant', ...delta };
    hasBegun = true;
    choice(head, { index: 0, delta: said, logprobs, finish_reason: finishReason as FinishReason | null });
  }

  function flush(): void {
    const closed = frame;
    // Before it is written: one that cannot be would stand in the way of what is said in its place.
    frame = undefined;
    if (closed !== undefined) writeChoice(closed);
  }

  function addDelta(delta: ChatDelta): void {
    if (delta.sameFrame !== true) flush();
    if (delta.type !== 'facts') frame = grown(frame, delta, tools);
    else if (delta.model !== undefined) head = { ...head, model: delta.model };
  }

  function addEnd({ model, finishReason, usage }: ChatResponse): void {
    flush();
    head = { ...head, model };
    writeChoice({ delta: {}, logprobs: null }, finishReason);
    end(head, usage);
  }

  return {
    add(item) {
      if (item.type === 'end') addEnd(item.response);
      else if (item.type === 'start') {
        head = { ...head, id: completionId(item.callId), model: item.model };
        tools.name(item.callId);
      } else addDelta(item);
    },
    flush,
  };
}

/** The frame with one more delta of it; the finish and the tokens are told at the end, when they are final. */
function grown(frame: Frame | undefined, said: Exclude<ChatDelta, { type: 'facts' }>, tools: ToolCallChunks): Frame | undefined {
  switch (said.type) {
    case 'content':
    case 'refusal':
      return withText(frame, said.type, said.text);
    case 'reasoning':
      return withText(frame, 'reasoning_content', said.text);
    case 'tool-call': {
      // In place: copying those before it for every call would cost its square.
      const calls = frame?.delta.tool_calls ?? [];
      calls.push(tools.chunk(said));
      return withFields(frame, { tool_calls: calls });
    }
    case 'logprobs':
      return { delta: frame?.delta ?? {}, logprobs: said.logprobs as unknown as TokenLogprobs };
    case 'message-extra': {
      // The reasoning itself comes as a delta of its own.
      const extra = { ...said.fields };
      delete extra['reasoning_content'];
      return Object.keys(extra).length === 0 ? frame : withFields(frame, extra);
    }
    case 'usage':
    case 'finish':
      return frame;
    default:
      return said satisfies never;
  }
}

function withText(frame: Frame | undefined, field: 'content' | 'refusal' | 'reasoning_content', text: string): Frame {
  const before: unknown = frame?.delta[field];
  return withFields(frame, { [field]: typeof before === 'string' ? before + text : text });
}

function withFields(frame: Frame | undefined, fields: ChunkDelta): Frame {
  return { delta: { ...frame?.delta, ...fields }, logprobs: frame?.logprobs ?? null };
}
