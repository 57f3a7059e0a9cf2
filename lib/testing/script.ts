import type { ChatDelta } from '../model/delta.js';
import { TransientError } from '../model/errors.js';
import type { ValidRequest } from '../model/request.js';
import type { ScriptStep } from '../sources/scriptedSource.js';
import { kindOf } from './difference/kindOf.js';
import { parseDiagram, showFault, standsForItself } from './parseDiagram.js';
import type { Fault, Sign } from './parseDiagram.js';
import { showTime } from './difference/showTime.js';

/** What a source says in one request, and when; without an end or an error it hangs. */
export interface Timeline {
  readonly steps: readonly ScriptStep[];
}

/** What a letter stands for: a text, a delta, the deltas of one frame (one increment), or the error that the source fails with. */
export type ScriptValue = string | ChatDelta | readonly ChatDelta[] | Error;

/** Letters and what they stand for; one that is not named is a text of one letter. */
export type ScriptValues = Readonly<Record<string, ScriptValue>>;

/** What can be played: a marble diagram (one character is 1 ms, `20s` between spaces is a wait), or a timeline. */
export type WrittenScript = string | Timeline;

/** Either as it is, or chosen by the request; `nth` counts a source's requests from 0. */
export type Script = WrittenScript | ((this: void, request: ValidRequest, nth: number) => WrittenScript);

/** What the letters of scripts stand for. */
export interface ScriptLetters {
  /** Default: each letter is a text. */
  readonly values?: ScriptValues;
  /** What `#` stands for; default: a `TransientError`. */
  readonly error?: Error;
}

/**
 * The steps of a script. `|` is a proper end: the finish reason is `stop`, unless the script has said another.
 *
 * Throws with a pointer at the character where the script makes no sense. `name` says whose it is.
 */
export function stepsOf(script: WrittenScript, letters: ScriptLetters = {}, name = 'The script'): readonly ScriptStep[] {
  return typeof script === 'string' ? stepsOfDiagram(script, letters, name) : checkedSteps(script, name);
}

function stepsOfDiagram(script: string, { values = {}, error }: ScriptLetters, name: string): readonly ScriptStep[] {
  const { signs, faults } = parseDiagram(script);
  const [fault] = [...faults, ...signs.flatMap((sign, at) => faultOf(sign, signs.slice(0, at), values))];
  if (fault !== undefined) throw new Error(showFault(`${name} cannot be played`, script, fault));
  const steps = signs.flatMap(({ atMs, symbol }): ScriptStep[] => {
    if (symbol === '|') return [{ atMs, type: 'end' }];
    if (symbol === '#') return [{ atMs, type: 'error', error: error ?? new TransientError('the script failed (#)') }];
    return stepsOfValue(atMs, valueOf(symbol, values));
  });
  return steps.flatMap((step) => (step.type === 'end' && !saysFinish(steps) ? [finishAt(step.atMs), step] : [step]));
}

function valueOf(symbol: string, values: ScriptValues): ScriptValue {
  return Object.hasOwn(values, symbol) ? (values[symbol] ?? symbol) : symbol;
}

function faultOf({ symbol, column }: Sign, earlier: readonly Sign[], values: ScriptValues): Fault[] {
  const end = earlier.find((sign) => endsScript(sign, values));
  if (end !== undefined) return [{ column, what: `"${symbol}" stands after the end, "${end.symbol}": put it before, or leave it out` }];
  if (symbol === '^' || symbol === '!') return [{ column, what: `"${symbol}" belongs into subscription diagrams; a script begins with its request, and has its own end, "|", or none` }];
  if (symbol === '|' || symbol === '#' || Object.hasOwn(values, symbol) || standsForItself(symbol)) return [];
  return [{ column, what: `"${symbol}" is no marble: write a letter or a digit, or say in \`values\` what it stands for` }];
}

function endsScript({ symbol }: Sign, values: ScriptValues): boolean {
  return symbol === '|' || symbol === '#' || isError(valueOf(symbol, values));
}

/** Those of a timeline are used as they are. */
function checkedSteps({ steps }: Timeline, name: string): readonly ScriptStep[] {
  steps.forEach(({ atMs }, at) => {
    const earlier = steps[at - 1];
    if (!Number.isFinite(atMs) || atMs < 0) throw new Error(`${name} cannot be played: the time of its step ${at + 1} is ${atMs}. Write milliseconds from the request on.`);
    if (earlier === undefined) return;
    if (earlier.type !== 'delta') throw new Error(`${name} cannot be played: its step ${at + 1} stands after its ${earlier.type}. Leave out what follows.`);
    if (earlier.atMs > atMs) throw new Error(`${name} cannot be played: its step ${at + 1}, at ${showTime(atMs)}, stands after one at ${showTime(earlier.atMs)}. Sort its steps by time.`);
  });
  return steps;
}

function stepsOfValue(atMs: number, value: ScriptValue): ScriptStep[] {
  if (isError(value)) return [{ atMs, type: 'error', error: value }];
  if (typeof value === 'string') return [{ atMs, type: 'delta', delta: { type: 'content', text: value } }];
  const [first, ...rest] = isFrame(value) ? value : [value];
  if (first === undefined) return [];
  return [first, ...rest.map((delta) => ({ ...delta, sameFrame: true as const }))].map((delta) => ({ atMs, type: 'delta', delta }));
}

function isError(value: ScriptValue): value is Error {
  return kindOf(value) === 'error';
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
