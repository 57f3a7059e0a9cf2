import type { EmptyKind, TimelineStep } from './timeline.js';

type WithoutTime<S> = S extends { atMs: number } ? Omit<S, 'atMs'> : never;

/** A step as its word tells it, before it has a time. */
export type StepBody = WithoutTime<TimelineStep>;

/** What stood in the brackets, by name. */
export type Arguments = Readonly<Record<string, string>>;

/** Ends the parse: tells what was expected of the argument. */
export type Refuse = (expected: string) => never;

/** One word of the notation: what it may carry and the step it makes. */
export interface TimelineWord {
  /** Names of the arguments, in the order in which they stand without a name. */
  args: readonly string[];
  /** The text if none is given; absent: no text may be given. */
  text?: string;
  repeats?: true;
  make: (given: { args: Arguments; text: string; refuse: Refuse }) => StepBody;
}

const emptyKinds: readonly EmptyKind[] = ['content', 'role', 'choices'];

const words: Readonly<Record<string, TimelineWord>> = {
  open: { args: ['kind'], make: ({ args, refuse }) => openStep(args['kind'], refuse) },
  d: { args: [], text: 'tick ', repeats: true, make: ({ text }) => ({ type: 'content', text }) },
  r: { args: [], text: 'hm ', repeats: true, make: ({ text }) => ({ type: 'reasoning', text }) },
  g: {
    args: ['name'],
    text: '{}',
    repeats: true,
    make: ({ args: { name }, text }) => ({ type: 'tool-arguments', text, ...defined({ name }) }),
  },
  e: { args: ['kind'], repeats: true, make: ({ args, refuse }) => ({ type: 'empty', kind: emptyKind(args['kind'], refuse) }) },
  k: { args: [], repeats: true, make: () => ({ type: 'comment' }) },
  u: { args: ['in', 'out'], repeats: true, make: ({ args, refuse }) => usageStep(args, refuse) },
  f: { args: ['reason'], make: ({ args }) => ({ type: 'finish', reason: args['reason'] ?? 'stop' }) },
  D: { args: [], make: () => ({ type: 'done' }) },
  bad: { args: [], text: '{"cho', repeats: true, make: ({ text }) => ({ type: 'broken', text }) },
  err: {
    args: ['code', 'message'],
    make: ({ args: { code = 'server_error', message } }) => ({ type: 'error', code, ...defined({ message }) }),
  },
  eof: { args: [], make: () => ({ type: 'eof' }) },
  rst: { args: [], make: () => ({ type: 'reset' }) },
  hang: { args: [], make: () => ({ type: 'hang' }) },
};

/** The word of the notation with this name; a number is the word of an HTTP answer with that status. */
export function timelineWord(name: string): TimelineWord | undefined {
  if (/^[45]\d\d$/.test(name)) return httpWord(Number(name));
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

/** All words, for messages. */
export const timelineWordNames: readonly string[] = Object.keys(words);

function httpWord(status: number): TimelineWord {
  return {
    args: ['code', 'message', 'ra'],
    make: ({ args: { code, message, ra: retryAfter } }) => ({ type: 'http-error', status, ...defined({ code, message, retryAfter }) }),
  };
}

function openStep(kind: string | undefined, refuse: Refuse): StepBody {
  if (kind === undefined) return { type: 'open' };
  return kind === 'bare' ? { type: 'open', bare: true } : refuse('open or open(bare)');
}

function emptyKind(kind: string | undefined, refuse: Refuse): EmptyKind {
  if (kind === undefined) return 'content';
  return emptyKinds.find((known) => known === kind) ?? refuse(`one of ${emptyKinds.join(', ')}`);
}

function usageStep(args: Arguments, refuse: Refuse): StepBody {
  const [promptTokens, completionTokens] = [args['in'], args['out']].map((count) => {
    return count !== undefined && /^-?\d+$/.test(count) ? Number(count) : refuse('two counts of tokens as in u@3(12,34)');
  }) as [number, number];
  return { type: 'usage', promptTokens, completionTokens };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
