import { completeTimeline } from './completeTimeline.js';
import { createScanner } from './scanner.js';
import type { Scanner } from './scanner.js';
import type { Timeline, TimelineStep } from './timeline.js';
import { TimelineError } from './timelineError.js';
import { timelineWord, timelineWordNames } from './timelineWords.js';
import type { Arguments, StepBody, TimelineWord } from './timelineWords.js';

const maxSteps = 100_000;
const gap = /[\s,]*/y;
const nameText = /\d+|[A-Za-z]+/y;
const seconds = /\d+(?:\.\d+)?/y;
const quoted = /"(?:[^"\\]|\\.)*"/sy;
const bareWord = /[\w.:/+-]+/y;
const argumentName = /[a-z]+(?==)/y;

/**
 * Reads a script. `word@seconds`, with seconds counted from the arrival of the request; `TIMELINE_HELP` lists the words.
 *
 *     open@0.1 d@1"Hello" r@1.2"hm" g@1.5"{}" k@2 u@3(12,34) f@3.2
 *     d@1..5/0.5"tick " hang           one tick each half second from 1 to 5, then silence
 *     429@0.1(ra=7)                    an HTTP answer
 *
 * Arguments may stand before the time too: `f(tool_calls)@2`. A step without a time comes with the step before it.
 * The result is in the order of time and complete: what a script implies (`completeTimeline`) is in it.
 * Throws `TimelineError` with line, column and what was expected there.
 */
export function parseTimeline(text: string): Timeline {
  const scanner = createScanner(text);
  const positions = new Map<TimelineStep, number>();
  let latestMs = 0;
  for (scanner.take(gap); !scanner.ended; scanner.take(gap)) {
    const position = scanner.position;
    for (const step of readStep(scanner, latestMs)) {
      latestMs = Math.max(latestMs, step.atMs);
      positions.set(step, position);
    }
    if (positions.size > maxSteps) scanner.refuse(`at most ${maxSteps} steps`, position);
  }
  return complete(text, positions);
}

/** The scripts of a file: one a line; empty lines and lines that begin with `#` are left out. */
export function splitScripts(text: string): string[] {
  return text.split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

function complete(text: string, positions: ReadonlyMap<TimelineStep, number>): Timeline {
  try {
    return completeTimeline([...positions.keys()]);
  } catch (thrown: unknown) {
    if (!(thrown instanceof TimelineError)) throw thrown;
    const position = (thrown.step && positions.get(thrown.step)) ?? 0;
    throw new TimelineError(thrown.problem, { place: { text, position } });
  }
}

function readStep(scanner: Scanner, latestMs: number): TimelineStep[] {
  const start = scanner.position;
  const word = readWord(scanner);
  const before = readArguments(scanner, word);
  const timesMs = scanner.take(/@/y) === undefined ? [latestMs] : readTimes(scanner, word);
  const args = before ?? readArguments(scanner, word) ?? {};
  const text = readText(scanner, word);
  const refuse = (expected: string): never => scanner.refuse(expected, start);
  return timesMs.map((atMs) => ({ atMs, ...(word.make({ args, text, refuse }) satisfies StepBody) }));
}

function readWord(scanner: Scanner): TimelineWord {
  const start = scanner.position;
  const word = timelineWord(scanner.take(nameText) ?? '');
  return word ?? scanner.refuse(`one of ${timelineWordNames.join(' ')}, or an HTTP status from 400 to 599`, start);
}

function readArguments(scanner: Scanner, word: TimelineWord): Arguments | undefined {
  if (scanner.take(/\(/y) === undefined) return undefined;
  const args: Record<string, string> = {};
  do {
    scanner.take(/\s*/y);
    const start = scanner.position;
    const name = scanner.take(argumentName) ?? word.args.find((known) => !(known in args));
    if (name === undefined || !word.args.includes(name) || name in args) {
      return scanner.refuse(word.args.length === 0 ? 'no arguments' : `no arguments but ${word.args.join(', ')}, each once`, start);
    }
    scanner.take(/=/y);
    args[name] = readString(scanner) ?? scanner.take(bareWord) ?? scanner.refuse('a word, or a text in double quotes');
    scanner.take(/\s*/y);
  } while (scanner.take(/,/y) !== undefined);
  if (scanner.take(/\)/y) === undefined) scanner.refuse('")"');
  return args;
}

function readTimes(scanner: Scanner, word: TimelineWord): number[] {
  const fromMs = readSeconds(scanner);
  const start = scanner.position;
  if (scanner.take(/\.\./y) === undefined) return [fromMs];
  if (word.repeats === undefined) scanner.refuse('a single time, since this step cannot be repeated', start);
  const toMs = readSeconds(scanner);
  if (scanner.take(/\//y) === undefined) scanner.refuse('"/" and the seconds between two, as in d@1..5/0.5');
  const everyMs = readSeconds(scanner);
  const count = Math.floor((toMs - fromMs) / everyMs + 1e-9) + 1;
  if (!(count >= 1 && count <= maxSteps)) scanner.refuse(`a repetition that goes forward, in at most ${maxSteps} steps`, start);
  return Array.from({ length: count }, (_, at) => wholeMicroseconds(fromMs + at * everyMs));
}

function readSeconds(scanner: Scanner): number {
  const text = scanner.take(seconds) ?? scanner.refuse('a time in seconds, as in 1.5');
  return wholeMicroseconds(Number(text) * 1000);
}

/** Otherwise 1.1 s would be 1100.0000000000002 ms. */
function wholeMicroseconds(timeMs: number): number {
  return Math.round(timeMs * 1000) / 1000;
}

function readText(scanner: Scanner, word: TimelineWord): string {
  const start = scanner.position;
  const text = readString(scanner);
  if (text !== undefined && word.text === undefined) scanner.refuse('no text, since this step has none', start);
  return text ?? word.text ?? '';
}

function readString(scanner: Scanner): string | undefined {
  const start = scanner.position;
  const literal = scanner.take(quoted);
  if (literal === undefined) return scanner.sees('"') ? scanner.refuse('a closing double quote') : undefined;
  try {
    return JSON.parse(literal) as string;
  } catch {
    return scanner.refuse('a text in double quotes with the escapes of JSON', start);
  }
}
