import { isOutput } from './delta.js';
import type { ChatDelta, ToolCallDelta } from './delta.js';
import { TransientError } from './errors.js';
import type { Reply, Sign } from './reply.js';
import type { AssistantToolCall, ChatResponse, ToolCall } from './response.js';
import type { Usage } from './usage.js';

type Said = 'content' | 'reasoning' | 'refusal' | 'toolCalls' | 'message' | 'finishReason' | 'usage';

/** The answer of one attempt as far as it has come. */
export interface Answer extends Pick<ChatResponse, Said> {
  model?: string;
  providerRequestId?: string;
  logprobs?: Record<string, unknown>;
}

/** Grows an answer delta by delta. One per attempt; never shared. */
export interface AnswerFold extends Reply<Answer> {
  add(this: void, delta: ChatDelta): Sign;
}

type Fields = Record<string, unknown>;

/** An answer is kept whole, so that one without end must not fill the memory; over it an error, never a silent cut. */
const maxAnswerChars = 64 * 1024 * 1024;

interface GrowingCall {
  id: string;
  name: string;
  arguments: string;
  custom: boolean;
  extra: Fields;
}

/** `callId` names tool calls for which the provider gave no id, as the chunks of the answer do. */
export function createFold(callId: string): AnswerFold {
  let content = '';
  let reasoning = '';
  let refusal: string | null = null;
  let usage: Usage | null = null;
  let finishReason: string | null = null;
  let increments = 0;
  let countedInFrame = false;
  // Some relays say a finish reason with every frame: once output has followed one, only the end of the stream tells the end.
  let saidTooSoon = false;
  let chars = 0;
  /** Beside the text. */
  let otherChars = 0;
  let model: string | null = null;
  let providerRequestId: string | null = null;
  let whole = false;
  let logprobs: Fields | undefined;
  const messageExtra: Fields = {};
  /** By index, which a source of one's own may count as it likes. */
  const calls = new Map<number, GrowingCall>();

  function keep(delta: ChatDelta): void {
    switch (delta.type) {
      case 'content':
        content += delta.text;
        chars += delta.text.length;
        break;
      case 'reasoning':
        reasoning += delta.text;
        chars += delta.text.length;
        break;
      case 'refusal':
        refusal = (refusal ?? '') + delta.text;
        chars += delta.text.length;
        break;
      case 'tool-call':
        growCall(calls, delta);
        chars += delta.arguments.length;
        otherChars += (delta.id ?? '').length + (delta.name ?? '').length + sizeOf(delta.extra);
        break;
      case 'usage':
        usage = delta.usage;
        break;
      case 'finish':
        finishReason = delta.reason;
        break;
      case 'logprobs':
        growFields((logprobs ??= {}), delta.logprobs);
        otherChars += sizeOf(delta.logprobs);
        break;
      case 'message-extra':
        growFields(messageExtra, delta.fields);
        otherChars += sizeOf(delta.fields);
        break;
      case 'facts':
        model = delta.model ?? model;
        providerRequestId = delta.providerRequestId ?? providerRequestId;
        whole = delta.whole ?? whole;
        break;
      default:
        delta satisfies never;
    }
  }

  return {
    add(delta) {
      keep(delta);
      if (chars + otherChars > maxAnswerChars) throw new TransientError(`the answer is larger than ${maxAnswerChars} characters`);
      if (delta.sameFrame !== true) countedInFrame = false;
      if (delta.type === 'finish') return saidTooSoon ? 'none' : 'finish';
      if (countedInFrame || !isOutput(delta)) return 'none';
      countedInFrame = true;
      increments += 1;
      saidTooSoon ||= finishReason !== null;
      return 'increment';
    },
    answer() {
      const grown = [...calls].sort(([a], [b]) => a - b).map(([index, call]) => ({ ...call, id: call.id || `call_${callId}_${index}` }));
      return {
        content,
        reasoning,
        refusal,
        toolCalls: grown.map(toolCall),
        message: {
          ...(grown.length === 0 ? {} : messageExtra),
          role: 'assistant',
          content: content === '' && (grown.length > 0 || refusal !== null) ? null : content,
          ...(refusal === null ? {} : { refusal }),
          ...(grown.length === 0 ? {} : { tool_calls: grown.map(messageCall) }),
        },
        finishReason: finalReason(finishReason, grown.length),
        usage,
        ...(model === null ? {} : { model }),
        ...(providerRequestId === null ? {} : { providerRequestId }),
        ...(logprobs === undefined ? {} : { logprobs }),
      };
    },
    partial: () => ({ increments, chars }),
    get increments() {
      return increments;
    },
    get finished() {
      return finishReason !== null && !saidTooSoon;
    },
    get finishReason() {
      return finishReason === null ? null : finalReason(finishReason, calls.size);
    },
    get usage() {
      return usage;
    },
    get providerRequestId() {
      return providerRequestId;
    },
    get model() {
      return model;
    },
    get whole() {
      return whole;
    },
  };
}

function sizeOf(fields: Readonly<Fields> | undefined): number {
  return fields === undefined ? 0 : JSON.stringify(fields).length;
}

function growCall(calls: Map<number, GrowingCall>, delta: ToolCallDelta): void {
  const call = calls.get(delta.index) ?? { id: '', name: '', arguments: '', custom: false, extra: {} };
  calls.set(delta.index, call);
  call.id ||= delta.id ?? '';
  // A name that comes again is a repetition, not a continuation.
  call.name ||= delta.name ?? '';
  call.arguments += delta.arguments;
  call.custom ||= delta.custom ?? false;
  Object.assign(call.extra, delta.extra);
}

/** Only the calls tell whether there is something to run: some providers say `stop` beside calls, or the reverse. */
function finalReason(reason: string | null, callCount: number): string {
  if (reason === 'stop' && callCount > 0) return 'tool_calls';
  if (reason === 'tool_calls' && callCount === 0) return 'stop';
  return reason ?? 'unknown';
}

function toolCall({ id, name, arguments: text, custom }: GrowingCall): ToolCall {
  return { id, name, arguments: text, ...(custom ? { custom } : {}) };
}

function messageCall({ id, name, arguments: text, custom, extra }: GrowingCall): AssistantToolCall {
  return custom ? { ...extra, id, type: 'custom', custom: { name, input: text } } : { ...extra, id, type: 'function', function: { name, arguments: text } };
}

/** Lists and texts go on where they ended, in place: copying what is there for every piece would cost its square. */
function growFields(fields: Fields, more: Readonly<Fields>): void {
  for (const [name, piece] of Object.entries(more)) {
    const known = fields[name];
    if (Array.isArray(piece)) fields[name] = extendList(Array.isArray(known) ? (known as unknown[]) : [], piece);
    else if (typeof piece === 'string') fields[name] = typeof known === 'string' ? known + piece : piece;
    else fields[name] = piece ?? known;
  }
}

function extendList(list: unknown[], more: readonly unknown[]): unknown[] {
  for (const item of more) list.push(item);
  return list;
}
