import { isOutput } from './delta.js';
import type { ChatDelta, ToolCallDelta } from './delta.js';
import { TransientError } from './errors.js';
import type { PartialOutput } from './errors.js';
import { GrowingText } from './growingText.js';
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
  add(delta: ChatDelta): Sign;
}

type Fields = Record<string, unknown>;

/** An answer is kept whole, so that one without end must not fill the memory; over it an error, never a silent cut. */
const maxAnswerChars = 64 * 1024 * 1024;

interface GrowingCall {
  id: string;
  name: string;
  readonly arguments: GrowingText;
  custom: boolean;
  extra: Fields;
}

/** `callId` names tool calls for which the provider gave no id, as the chunks of the answer do. */
export function createFold(callId: string): AnswerFold {
  return new Fold(callId);
}

/** A class, since one is held for each stream: the closures of a factory would be six times its size. */
class Fold implements AnswerFold {
  increments = 0;
  usage: Usage | null = null;
  providerRequestId: string | null = null;
  model: string | null = null;
  whole = false;
  private readonly content = new GrowingText();
  private reasoning: GrowingText | undefined;
  private refusal: string | null = null;
  private said: string | null = null;
  private countedInFrame = false;
  /** Some relays say a finish reason with every frame: once output has followed one, only the end of the stream tells the end. */
  private saidTooSoon = false;
  private chars = 0;
  /** Beside the text. */
  private otherChars = 0;
  private logprobs: Fields | undefined;
  private messageExtra: Fields | undefined;
  /** By index, which a source of one's own may count as it likes. */
  private calls: Map<number, GrowingCall> | undefined;

  private readonly callId: string;

  constructor(callId: string) {
    this.callId = callId;
  }

  add(delta: ChatDelta): Sign {
    this.keep(delta);
    if (this.chars + this.otherChars > maxAnswerChars) throw new TransientError(`the answer is larger than ${maxAnswerChars} characters`);
    if (delta.sameFrame !== true) this.countedInFrame = false;
    if (delta.type === 'finish') return this.saidTooSoon ? 'none' : 'finish';
    if (this.countedInFrame || !isOutput(delta)) return 'none';
    this.countedInFrame = true;
    this.increments += 1;
    this.saidTooSoon ||= this.said !== null;
    return 'increment';
  }

  private keep(delta: ChatDelta): void {
    switch (delta.type) {
      case 'content':
        this.content.add(delta.text);
        this.chars += delta.text.length;
        break;
      case 'reasoning':
        (this.reasoning ??= new GrowingText()).add(delta.text);
        this.chars += delta.text.length;
        break;
      case 'refusal':
        this.refusal = (this.refusal ?? '') + delta.text;
        this.chars += delta.text.length;
        break;
      case 'tool-call':
        growCall((this.calls ??= new Map<number, GrowingCall>()), delta);
        this.chars += delta.arguments.length;
        this.otherChars += (delta.id ?? '').length + (delta.name ?? '').length + sizeOf(delta.extra);
        break;
      case 'usage':
        this.usage = delta.usage;
        break;
      case 'finish':
        this.said = delta.reason;
        break;
      case 'logprobs':
        growFields((this.logprobs ??= {}), delta.logprobs);
        this.otherChars += sizeOf(delta.logprobs);
        break;
      case 'message-extra':
        growFields((this.messageExtra ??= {}), delta.fields);
        this.otherChars += sizeOf(delta.fields);
        break;
      case 'facts':
        this.model = delta.model ?? this.model;
        this.providerRequestId = delta.providerRequestId ?? this.providerRequestId;
        this.whole = delta.whole ?? this.whole;
        break;
      default:
        delta satisfies never;
    }
  }

  answer(): Answer {
    const content = this.content.toString();
    const { refusal, model, providerRequestId, logprobs, usage, callId } = this;
    const grown = [...(this.calls ?? [])].sort(([a], [b]) => a - b).map(([index, call]) => ({ ...call, id: call.id || `call_${callId}_${index}` }));
    return {
      content,
      reasoning: this.reasoning?.toString() ?? '',
      refusal,
      toolCalls: grown.map(toolCall),
      message: {
        ...(grown.length === 0 ? {} : this.messageExtra),
        role: 'assistant',
        content: content === '' && (grown.length > 0 || refusal !== null) ? null : content,
        ...(refusal === null ? {} : { refusal }),
        ...(grown.length === 0 ? {} : { tool_calls: grown.map(messageCall) }),
      },
      finishReason: finalReason(this.said, grown.length),
      usage,
      ...(model === null ? {} : { model }),
      ...(providerRequestId === null ? {} : { providerRequestId }),
      ...(logprobs === undefined ? {} : { logprobs }),
    };
  }

  partial(): PartialOutput {
    return { increments: this.increments, chars: this.chars };
  }

  get finished(): boolean {
    return this.said !== null && !this.saidTooSoon;
  }

  get finishReason(): string | null {
    return this.said === null ? null : finalReason(this.said, this.calls?.size ?? 0);
  }
}

function sizeOf(fields: Readonly<Fields> | undefined): number {
  return fields === undefined ? 0 : JSON.stringify(fields).length;
}

function growCall(calls: Map<number, GrowingCall>, delta: ToolCallDelta): void {
  const call = calls.get(delta.index) ?? { id: '', name: '', arguments: new GrowingText(), custom: false, extra: {} };
  calls.set(delta.index, call);
  call.id ||= delta.id ?? '';
  // A name that comes again is a repetition, not a continuation.
  call.name ||= delta.name ?? '';
  call.arguments.add(delta.arguments);
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
  return { id, name, arguments: text.toString(), ...(custom ? { custom } : {}) };
}

function messageCall({ id, name, arguments: text, custom, extra }: GrowingCall): AssistantToolCall {
  return custom ? { ...extra, id, type: 'custom', custom: { name, input: text.toString() } } : { ...extra, id, type: 'function', function: { name, arguments: text.toString() } };
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
