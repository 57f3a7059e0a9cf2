/** One thing that a simulated upstream does, `atMs` after the request arrived. */
export type TimelineStep = { atMs: number } & (
  | { type: 'open'; bare?: true }
  | { type: 'content' | 'reasoning'; text: string }
  /** A fragment of tool arguments; a `name` begins another call. */
  | { type: 'tool-arguments'; text: string; name?: string }
  | { type: 'empty'; kind: EmptyKind }
  | { type: 'comment' }
  | { type: 'usage'; promptTokens: number; completionTokens: number }
  | { type: 'finish'; reason: string }
  | { type: 'done' }
  | { type: 'broken'; text: string }
  | { type: 'error'; code: string; message?: string }
  | { type: 'http-error'; status: number; code?: string; message?: string; retryAfter?: string }
  | { type: 'eof' }
  | { type: 'reset' }
  | { type: 'hang' }
);

export type StepType = TimelineStep['type'];

/** What a frame without output looks like: an empty text, the role alone, or no choices at all. */
export type EmptyKind = 'content' | 'role' | 'choices';

/** What an upstream does with one request, in the order of time. */
export type Timeline = readonly TimelineStep[];
