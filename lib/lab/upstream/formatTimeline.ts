import type { Timeline, TimelineStep } from './timeline.js';

/** Writes a timeline in the notation that `parseTimeline` reads. */
export function formatTimeline(steps: Timeline): string {
  return steps.map(formatStep).join(' ');
}

function formatStep(step: TimelineStep): string {
  const at = `@${step.atMs / 1000}`;
  switch (step.type) {
    case 'open':
      return `open${step.bare === true ? '(bare)' : ''}${at}`;
    case 'content':
      return `d${at}${JSON.stringify(step.text)}`;
    case 'reasoning':
      return `r${at}${JSON.stringify(step.text)}`;
    case 'tool-arguments':
      return `g${formatArguments({ name: step.name })}${at}${JSON.stringify(step.text)}`;
    case 'empty':
      return `e${step.kind === 'content' ? '' : `(${step.kind})`}${at}`;
    case 'comment':
      return `k${at}`;
    case 'usage':
      return `u${at}(${step.promptTokens},${step.completionTokens})`;
    case 'finish':
      return `f${step.reason === 'stop' ? '' : formatArguments({ reason: step.reason })}${at}`;
    case 'done':
      return `D${at}`;
    case 'broken':
      return `bad${at}${JSON.stringify(step.text)}`;
    case 'error':
      return `err${at}${formatArguments({ code: step.code, message: step.message })}`;
    case 'http-error':
      return `${step.status}${at}${formatArguments({ code: step.code, message: step.message, ra: step.retryAfter })}`;
    case 'eof':
      return `eof${at}`;
    case 'reset':
      return `rst${at}`;
    case 'hang':
      return step.atMs === 0 ? 'hang' : `hang${at}`;
    default:
      return step satisfies never;
  }
}

/** Without its name where it stands in its place; what follows a gap needs its name, and `ra` reads better with it. */
function formatArguments(args: Record<string, string | undefined>): string {
  const all = Object.entries(args);
  const given = all.flatMap(([name, value], at) => {
    if (value === undefined) return [];
    const inPlace = name !== 'ra' && all.slice(0, at).every(([, earlier]) => earlier !== undefined);
    return [`${inPlace ? '' : `${name}=`}${/^[\w.:/+-]+$/.test(value) ? value : JSON.stringify(value)}`];
  });
  return given.length === 0 ? '' : `(${given.join(',')})`;
}
