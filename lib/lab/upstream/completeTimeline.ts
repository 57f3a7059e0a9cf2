import type { StepType, Timeline, TimelineStep } from './timeline.js';
import { TimelineError } from './timelineError.js';

const openAfterMs = 100;
// A longer Node timer fires at once.
const longestMs = 2 ** 31 - 1;
const ends: readonly StepType[] = ['eof', 'reset', 'hang', 'http-error'];
const needNoStream: readonly StepType[] = ['reset', 'hang', 'http-error'];
const sayTheEnd: readonly StepType[] = ['done', 'error', ...ends];

/**
 * Puts steps in the order of time and adds what they imply: an `open` after 100 ms (or with the first step, if that is
 * earlier), and after a `finish` the end marker and a clean end, unless the steps say how it ends. Completing twice
 * changes nothing. Throws `TimelineError` where the steps contradict each other.
 */
export function completeTimeline(steps: Timeline): Timeline {
  if (steps.length === 0) throw new TimelineError('a script needs at least one step');
  const complete = withEnd(withOpen(steps.toSorted((a, b) => a.atMs - b.atMs)));
  complete.forEach((step, at) => {
    const problem = problemOf(step, complete[at - 1]);
    if (problem !== undefined) throw new TimelineError(problem, { step });
  });
  return complete;
}

function problemOf(step: TimelineStep, before: TimelineStep | undefined): string | undefined {
  if (!(step.atMs >= 0 && step.atMs <= longestMs)) return `the time of a step must be between 0 and ${longestMs / 1000} s`;
  if (before === undefined) return undefined;
  if (ends.includes(before.type)) return `nothing can follow the ${before.type} at ${before.atMs / 1000} s`;
  if (step.type === 'http-error') return 'an HTTP status is the whole answer, so nothing can come before it';
  if (step.type === 'open') return 'open comes first, and once';
  return undefined;
}

function withOpen(steps: Timeline): Timeline {
  const first = steps[0];
  const implied = !steps.some(({ type }) => type === 'open') && steps.some(({ type }) => !needNoStream.includes(type));
  if (first === undefined || !implied || steps.some(({ type }) => type === 'http-error')) return steps;
  return [{ type: 'open', atMs: Math.min(openAfterMs, first.atMs) }, ...steps];
}

function withEnd(steps: Timeline): Timeline {
  const finish = steps.findLastIndex(({ type }) => type === 'finish');
  const last = steps.at(-1);
  if (finish < 0 || last === undefined || steps.slice(finish).some(({ type }) => sayTheEnd.includes(type))) return steps;
  return [...steps, { type: 'done', atMs: last.atMs }, { type: 'eof', atMs: last.atMs }];
}
