import type { ChatDelta, ToolCallDelta } from '../model/delta.js';
import type { ChatResponse } from '../model/response.js';
import type { StreamItem } from '../model/streamItem.js';
import { completionId, createdS } from './chatCompletion.js';
import { usageBody } from './usageBody.js';

/** Writes an answer as the events of OpenAI's stream, one chunk for each frame of the source that brought something. */
export interface ChatChunks {
  add(this: void, item: StreamItem): void;
  /** The events of all that was added since the last time. */
  take(this: void): string;
}

export interface ChatChunksOptions {
  /** A last chunk tells the tokens, if they are known. */
  readonly wantsUsage: boolean;
}

/** What one frame brought. */
interface Frame {
  delta: Record<string, unknown>;
  logprobs: object | null;
}

export function createChatChunks({ wantsUsage }: ChatChunksOptions): ChatChunks {
  const created = createdS();
  const ending = wantsUsage ? ',"usage":null}' : '}';
  const tools = createToolCallChunks();
  let id = '';
  let model = '';
  let beginning = '';
  let hasBegun = false;
  let frame: Frame | undefined;
  let text = '';

  /** Made once for all chunks of a stream, since only what the frames bring differs. */
  function begin(): void {
    beginning = `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1)},"choices":[`;
  }

  function writeChoice({ delta, logprobs }: Frame, finishReason: string | null = null): void {
    // Clients that add chunks up count the probabilities of a first one twice, so none stand there.
    if (!hasBegun && logprobs !== null) writeChoice({ delta: {}, logprobs: null });
    const said = hasBegun ? delta : { role: 'assistant', ...delta };
    hasBegun = true;
    const facts = logprobs === null && finishReason === null ? '"logprobs":null,"finish_reason":null' : `"logprobs":${JSON.stringify(logprobs)},"finish_reason":${JSON.stringify(finishReason)}`;
    text += `${beginning}{"index":0,"delta":${JSON.stringify(said)},${facts}}]${ending}\n\n`;
  }

  function closeFrame(): void {
    const closed = frame;
    // Before it is written: one that cannot be would stand in the way of what is said in its place.
    frame = undefined;
    if (closed !== undefined) writeChoice(closed);
  }

  function addDelta(delta: ChatDelta): void {
    if (delta.sameFrame !== true) closeFrame();
    if (delta.type === 'facts') {
      if (delta.model !== undefined) model = delta.model;
      begin();
      return;
    }
    frame = grown(frame, delta, tools);
  }

  function writeEnd({ finishReason, usage, ...response }: ChatResponse): void {
    closeFrame();
    model = response.model;
    begin();
    writeChoice({ delta: {}, logprobs: null }, finishReason);
    if (wantsUsage && usage !== null) text += `${beginning}],"usage":${JSON.stringify(usageBody(usage))}}\n\n`;
    text += 'data: [DONE]\n\n';
  }

  return {
    add(item) {
      if (item.type === 'end') writeEnd(item.response);
      else if (item.type === 'start') {
        id = completionId(item.callId);
        model = item.model;
        tools.name(item.callId);
        begin();
      } else addDelta(item);
    },
    take() {
      closeFrame();
      const taken = text;
      text = '';
      return taken;
    },
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
      const calls = (frame?.delta['tool_calls'] ?? []) as object[];
      calls.push(tools.chunk(said));
      return withFields(frame, { tool_calls: calls });
    }
    case 'logprobs':
      return { delta: frame?.delta ?? {}, logprobs: said.logprobs };
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

function withText(frame: Frame | undefined, field: string, text: string): Frame {
  const before = frame?.delta[field];
  return withFields(frame, { [field]: typeof before === 'string' ? before + text : text });
}

function withFields(frame: Frame | undefined, fields: Record<string, unknown>): Frame {
  return { delta: { ...frame?.delta, ...fields }, logprobs: frame?.logprobs ?? null };
}

/** Fragments of tool calls; clients want the id with the first one of a call, and neither id nor name a second time. */
interface ToolCallChunks {
  /** By which calls are named whose provider gave them no id. */
  name(this: void, callId: string): void;
  chunk(this: void, delta: ToolCallDelta): object;
}

function createToolCallChunks(): ToolCallChunks {
  let owner = '';
  const calls = new Map<number, { isNamed: boolean }>();

  return {
    name(callId) {
      owner = callId;
    },
    chunk({ index, id, name = '', arguments: text, custom = false, extra }) {
      const known = calls.get(index);
      const call = known ?? { isNamed: false };
      calls.set(index, call);
      const told = call.isNamed || name === '' ? {} : { name };
      call.isNamed ||= name !== '';
      const type = custom ? 'custom' : 'function';
      const first = known === undefined ? { id: id || `call_${owner}_${index}`, type } : {};
      return { index, ...first, [type]: { ...told, [custom ? 'input' : 'arguments']: text }, ...extra };
    },
  };
}
