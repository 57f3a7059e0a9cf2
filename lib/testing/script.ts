import { TestScheduler } from 'rxjs/testing';
import type { ChatDelta } from '../model/delta.js';
import { TransientError } from '../model/errors.js';
import type { ScriptStep } from '../sources/scriptedSource.js';

/** What a source says in one request, and when; without an end or an error it hangs. */
export interface Timeline {
  readonly steps: readonly ScriptStep[];
}

/** What a letter stands for: a text, a delta, the deltas of one frame (one increment), or the error that the source fails with. */
export type ScriptValue = string | ChatDelta | readonly ChatDelta[] | Error;

/** Letters and what they stand for; one that is not named is a text of one letter. */
export type ScriptValues = Readonly<Record<string, ScriptValue>>;

/** A marble diagram (one character is 1 ms, `20s` between spaces is a wait), or a timeline. */
export type Script = string | Timeline;

export interface ScriptLetters {
  readonly values?: ScriptValues;
  /** What `#` stands for; default: a `TransientError`. */
  readonly error?: Error;
}

/** The steps of a script. `|` is a proper end: the finish reason is `stop`, unless the script has said another. */
export function stepsOf(script: Script, { values = {}, error }: ScriptLetters = {}): readonly ScriptStep[] {
  if (typeof script !== 'string') return script.steps;
  const letters = new Proxy(values, { get: (known, letter: string) => known[letter] ?? letter });
  const messages = TestScheduler.parseMarbles(script, letters, error, false, true);
  const steps = messages.flatMap(({ frame: atMs, notification }): ScriptStep[] => {
    if (notification.kind === 'N') return stepsOfValue(atMs, notification.value as ScriptValue);
    if (notification.kind === 'E') return [{ atMs, type: 'error', error: error ?? new TransientError('the script failed (#)') }];
    return [{ atMs, type: 'end' }];
  });
  return steps.flatMap((step) => (step.type === 'end' && !saysFinish(steps) ? [finishAt(step.atMs), step] : [step]));
}

function stepsOfValue(atMs: number, value: ScriptValue): ScriptStep[] {
  if (value instanceof Error) return [{ atMs, type: 'error', error: value }];
  if (typeof value === 'string') return [{ atMs, type: 'delta', delta: { type: 'content', text: value } }];
  const [first, ...rest] = isFrame(value) ? value : [value];
  if (first === undefined) return [];
  return [first, ...rest.map((delta) => ({ ...delta, sameFrame: true as const }))].map((delta) => ({ atMs, type: 'delta', delta }));
}

function isFrame(value: ChatDelta | readonly ChatDelta[]): value is readonly ChatDelta[] {
  return Array.isArray(value);
}

function saysFinish(steps: readonly ScriptStep[]): boolean {
  return steps.some((step) => step.type === 'delta' && step.delta.type === 'finish');
}

function finishAt(atMs: number): ScriptStep {
  return { atMs, type: 'delta', delta: { type: 'finish', reason: 'stop' } };
}
