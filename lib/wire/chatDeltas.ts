import { isOutput } from '../model/delta.js';
import type { ChatDelta, ProviderFacts } from '../model/delta.js';
import type { Usage } from '../model/usage.js';
import { createChatToolCalls } from './chatToolCalls.js';
import type { ChatToolCalls } from './chatToolCalls.js';
import { chatUsage } from './chatUsage.js';
import { finishReason, saysFailed } from './finishReason.js';
import { asList, asRecord, asText } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';
import { contentParts, messageExtra, reasoningText } from './messageText.js';
import { createThinkTags } from './thinkTags.js';
import type { ThinkTags } from './thinkTags.js';

/** Turns the chunks of one answer, or the one document of an answer in one piece, into deltas. */
export interface ChatDeltas {
  read(chunk: JsonRecord): void;
  /** The chunks have ended: text that was held back comes out. */
  flush(): void;
  /** A finish reason has come. */
  readonly finished: boolean;
  /** One has come and no output after it, which would show that it was not the end. */
  readonly ended: boolean;
  /** There was no output. */
  readonly empty: boolean;
  readonly toolsAreWhole: boolean;
}

/** `requestId`: the provider's id of the request where a header told it; `whole`: came in one piece though a stream was asked for. */
export interface ChatDeltasOptions {
  readonly emit: (delta: ChatDelta) => void;
  readonly requestId?: string | undefined;
  readonly thinkTags?: boolean;
  readonly whole?: boolean;
}

/** What an answer is made of, and the fields that bring it: several names of one thing hold copies of it. */
const fieldsOf = {
  content: ['content'],
  reasoning: ['reasoning_content', 'reasoning', 'thinking', 'reasoning_details'],
  refusal: ['refusal'],
  tool_calls: ['tool_calls', 'function_call'],
} as const;

type Spoken = keyof typeof fieldsOf;

export function createChatDeltas(options: ChatDeltasOptions): ChatDeltas {
  return new ChunkReader(options);
}

/** A class, since one is held for each stream: the closures of a factory would be six times its size. */
class ChunkReader implements ChatDeltas {
  private readonly emit: (delta: ChatDelta) => void;
  private readonly requestId: string | undefined;
  private readonly whole: boolean;
  private readonly think: ThinkTags | undefined;
  private tools: ChatToolCalls | undefined;
  private spokenByDeltas: Partial<Record<Spoken, true>> | undefined;
  private inFrame = false;
  private inDelta = false;
  private spoke = false;
  private wentOn = false;
  private choiceIndex: unknown;
  private reason: string | undefined;
  private usage: Usage | null = null;
  private model = '';
  private idTold = false;

  constructor({ emit, requestId, thinkTags = false, whole = false }: ChatDeltasOptions) {
    this.emit = emit;
    this.requestId = requestId;
    this.whole = whole;
    this.think = thinkTags ? createThinkTags() : undefined;
  }

  read(chunk: JsonRecord): void {
    this.inFrame = false;
    const choice = this.choiceOf(chunk);
    if (choice !== undefined) this.readChoice(choice);
    this.readUsage(chunk, choice);
    this.readFacts(chunk);
    if (this.whole) this.put({ type: 'facts', whole: true });
  }

  flush(): void {
    this.inFrame = false;
    this.putAll(this.think?.flush());
  }

  get finished(): boolean {
    return this.reason !== undefined;
  }

  get ended(): boolean {
    return this.reason !== undefined && !this.wentOn;
  }

  get empty(): boolean {
    return !this.spoke;
  }

  get toolsAreWhole(): boolean {
    return this.tools?.whole() ?? true;
  }

  private put(delta: ChatDelta): void {
    if (this.inFrame) delta.sameFrame = true;
    this.inFrame = true;
    this.emit(delta);
  }

  private putAll(deltas: readonly ChatDelta[] = []): void {
    for (const delta of deltas) this.put(delta);
  }

  private noteSpoken(kind: Spoken): void {
    if (this.inDelta) (this.spokenByDeltas ??= {})[kind] = true;
  }

  private noteOutput(kind: Spoken): void {
    this.noteSpoken(kind);
    this.spoke = true;
    this.wentOn ||= this.reason !== undefined;
  }

  private say(type: 'content' | 'reasoning' | 'refusal', text: string): void {
    if (text === '') return;
    this.noteOutput(type);
    if (type !== 'content' || this.think === undefined) this.put({ type, text });
    else this.putAll(this.think.push(text));
  }

  private readMessage(message: JsonRecord): void {
    this.say('reasoning', reasoningText(message));
    const content = message['content'];
    if (typeof content === 'string') this.say('content', content);
    else if (content !== null && content !== undefined) for (const part of contentParts(content)) this.say(part.type, part.text);
    this.say('refusal', asText(message['refusal']));
    this.readToolCalls(message);
    const fields = messageExtra(message);
    if (fields === undefined) return;
    this.noteSpoken('reasoning');
    this.put({ type: 'message-extra', fields });
  }

  private readToolCalls(message: JsonRecord): void {
    const legacy = asRecord(message['function_call']);
    const fragments = legacy === undefined ? asList(message['tool_calls']) : [{ function: legacy }];
    if (fragments.length === 0) return;
    const tools = (this.tools ??= createChatToolCalls());
    fragments.forEach((fragment, at) => {
      const fields = asRecord(fragment);
      if (fields === undefined) return;
      const call = tools.read(fields, fragments.length > 1 ? at : undefined);
      if (isOutput(call)) this.noteOutput('tool_calls');
      this.put(call);
    });
  }

  private readChoice(choice: JsonRecord): void {
    const delta = asRecord(choice['delta']);
    const message = asRecord(choice['message']);
    if (delta !== undefined) {
      this.inDelta = true;
      this.readMessage(delta);
      this.inDelta = false;
    }
    // Beside or after deltas a message repeats what was streamed; only what was not streamed is new.
    if (message !== undefined) this.readMessage(withoutSpoken(message, this.spokenByDeltas ?? {}));
    if (delta === undefined && message === undefined) this.say('content', asText(choice['text']));
    this.readLogprobs(choice['logprobs']);
    this.readFinish(asText(choice['finish_reason']));
  }

  private readFinish(word: string): void {
    // One that tells of a failure is refused by the reader, unless the answer had ended before.
    if (word === '' || saysFailed(word)) return;
    const reason = (this.reason = finishReason(word));
    this.putAll(this.think?.flush());
    this.put({ type: 'finish', reason });
  }

  private readLogprobs(value: unknown): void {
    const logprobs = asRecord(value);
    if (logprobs === undefined || Object.values(logprobs).every((list) => asList(list).length === 0)) return;
    this.put({ type: 'logprobs', logprobs });
  }

  private choiceOf(chunk: JsonRecord): JsonRecord | undefined {
    for (const entry of asList(chunk['choices'])) {
      const choice = asRecord(entry);
      if (choice === undefined) continue;
      // One call, one answer: the first choice seen is ours, whatever its number.
      this.choiceIndex ??= choice['index'] ?? 0;
      if ((choice['index'] ?? this.choiceIndex) === this.choiceIndex) return choice;
    }
    return undefined;
  }

  private readUsage(chunk: JsonRecord, choice: JsonRecord | undefined): void {
    const report = asRecord(chunk['usage']) ?? asRecord(choice?.['usage']) ?? asRecord(asRecord(chunk['x_groq'])?.['usage']);
    const usage = report === undefined ? null : chatUsage(report, this.usage);
    if (usage === null) return;
    this.usage = usage;
    this.put({ type: 'usage', usage });
  }

  private readFacts(chunk: JsonRecord): void {
    const named = asText(chunk['model']);
    const isNews = named !== '' && named !== this.model;
    if (!isNews && this.idTold) return;
    const id = this.idTold ? '' : (this.requestId ?? asText(chunk['id']));
    if (!isNews && id === '') return;
    const facts: ProviderFacts = { type: 'facts' };
    if (isNews) facts.model = this.model = named;
    if (id !== '') facts.providerRequestId = id;
    this.idTold ||= id !== '';
    this.put(facts);
  }
}

function withoutSpoken(message: JsonRecord, spoken: Partial<Record<Spoken, true>>): JsonRecord {
  const repeated: readonly string[] = (Object.keys(spoken) as Spoken[]).flatMap((kind) => fieldsOf[kind]);
  return Object.fromEntries(Object.entries(message).filter(([field]) => !repeated.includes(field)));
}
