import { isOutput } from '../model/delta.js';
import type { ChatDelta, ProviderFacts } from '../model/delta.js';
import type { Usage } from '../model/usage.js';
import { createChatToolCalls } from './chatToolCalls.js';
import { chatUsage } from './chatUsage.js';
import { finishReason, saysFailed } from './finishReason.js';
import { asList, asRecord, asText } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';
import { contentParts, messageExtra, reasoningText } from './messageText.js';
import { createThinkTags } from './thinkTags.js';

/** Turns the chunks of one answer, or the one document of an answer in one piece, into deltas. */
export interface ChatDeltas {
  read(this: void, chunk: JsonRecord): void;
  /** The chunks have ended: text that was held back comes out. */
  flush(this: void): void;
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

export function createChatDeltas({ emit, requestId, thinkTags = false, whole = false }: ChatDeltasOptions): ChatDeltas {
  const tools = createChatToolCalls();
  const think = thinkTags ? createThinkTags() : undefined;
  const spokenByDeltas: Partial<Record<Spoken, true>> = {};
  let inFrame = false;
  let inDelta = false;
  let spoke = false;
  let wentOn = false;
  let choiceIndex: unknown;
  let reason: string | undefined;
  let usage: Usage | null = null;
  let model = '';
  let idTold = false;

  function put(delta: ChatDelta): void {
    if (inFrame) delta.sameFrame = true;
    inFrame = true;
    emit(delta);
  }

  function noteOutput(kind: Spoken): void {
    if (inDelta) spokenByDeltas[kind] = true;
    spoke = true;
    wentOn ||= reason !== undefined;
  }

  function say(type: 'content' | 'reasoning' | 'refusal', text: string): void {
    if (text === '') return;
    noteOutput(type);
    if (type !== 'content' || think === undefined) put({ type, text });
    else think.push(text).forEach(put);
  }

  function readMessage(message: JsonRecord): void {
    say('reasoning', reasoningText(message));
    const content = message['content'];
    if (typeof content === 'string') say('content', content);
    else if (content !== null && content !== undefined) contentParts(content).forEach((part) => say(part.type, part.text));
    say('refusal', asText(message['refusal']));
    readToolCalls(message);
    const fields = messageExtra(message);
    if (fields === undefined) return;
    if (inDelta) spokenByDeltas.reasoning = true;
    put({ type: 'message-extra', fields });
  }

  function readToolCalls(message: JsonRecord): void {
    const legacy = asRecord(message['function_call']);
    const fragments = legacy === undefined ? asList(message['tool_calls']) : [{ function: legacy }];
    fragments.forEach((fragment, at) => {
      const fields = asRecord(fragment);
      if (fields === undefined) return;
      const call = tools.read(fields, fragments.length > 1 ? at : undefined);
      if (isOutput(call)) noteOutput('tool_calls');
      put(call);
    });
  }

  function readChoice(choice: JsonRecord): void {
    const delta = asRecord(choice['delta']);
    const message = asRecord(choice['message']);
    if (delta !== undefined) {
      inDelta = true;
      readMessage(delta);
      inDelta = false;
    }
    // Beside or after deltas a message repeats what was streamed; only what was not streamed is new.
    if (message !== undefined) readMessage(withoutSpoken(message, spokenByDeltas));
    if (delta === undefined && message === undefined) say('content', asText(choice['text']));
    readLogprobs(choice['logprobs']);
    readFinish(asText(choice['finish_reason']));
  }

  function readFinish(word: string): void {
    // One that tells of a failure is refused by the reader, unless the answer had ended before.
    if (word === '' || saysFailed(word)) return;
    reason = finishReason(word);
    think?.flush().forEach(put);
    put({ type: 'finish', reason });
  }

  function readLogprobs(value: unknown): void {
    const logprobs = asRecord(value);
    if (logprobs === undefined || Object.values(logprobs).every((list) => asList(list).length === 0)) return;
    put({ type: 'logprobs', logprobs });
  }

  function choiceOf(chunk: JsonRecord): JsonRecord | undefined {
    for (const entry of asList(chunk['choices'])) {
      const choice = asRecord(entry);
      if (choice === undefined) continue;
      // One call, one answer: the first choice seen is ours, whatever its number.
      choiceIndex ??= choice['index'] ?? 0;
      if ((choice['index'] ?? choiceIndex) === choiceIndex) return choice;
    }
    return undefined;
  }

  function readUsage(chunk: JsonRecord, choice: JsonRecord | undefined): void {
    const report = asRecord(chunk['usage']) ?? asRecord(choice?.['usage']) ?? asRecord(asRecord(chunk['x_groq'])?.['usage']);
    const known = report === undefined ? null : chatUsage(report, usage);
    if (known === null) return;
    usage = known;
    put({ type: 'usage', usage });
  }

  function readFacts(chunk: JsonRecord): void {
    const named = asText(chunk['model']);
    const isNews = named !== '' && named !== model;
    if (!isNews && idTold) return;
    const id = idTold ? '' : (requestId ?? asText(chunk['id']));
    if (!isNews && id === '') return;
    const facts: ProviderFacts = { type: 'facts' };
    if (isNews) facts.model = model = named;
    if (id !== '') facts.providerRequestId = id;
    idTold ||= id !== '';
    put(facts);
  }

  return {
    read(chunk) {
      inFrame = false;
      const choice = choiceOf(chunk);
      if (choice !== undefined) readChoice(choice);
      readUsage(chunk, choice);
      readFacts(chunk);
      if (whole) put({ type: 'facts', whole: true });
    },
    flush() {
      inFrame = false;
      think?.flush().forEach(put);
    },
    get finished() {
      return reason !== undefined;
    },
    get ended() {
      return reason !== undefined && !wentOn;
    },
    get empty() {
      return !spoke;
    },
    get toolsAreWhole() {
      return tools.whole();
    },
  };
}

function withoutSpoken(message: JsonRecord, spoken: Partial<Record<Spoken, true>>): JsonRecord {
  const repeated: readonly string[] = (Object.keys(spoken) as Spoken[]).flatMap((kind) => fieldsOf[kind]);
  return Object.fromEntries(Object.entries(message).filter(([field]) => !repeated.includes(field)));
}
