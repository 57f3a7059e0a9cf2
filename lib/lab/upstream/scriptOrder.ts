import { completeTimeline } from './completeTimeline.js';
import { formatTimeline } from './formatTimeline.js';
import { parseTimeline } from './parseTimeline.js';
import type { Timeline } from './timeline.js';
import { TimelineError } from './timelineError.js';

/** A script in the notation of `parseTimeline`, or its steps. */
export type Script = string | Timeline;

/** A list, or a function that makes the script of the request with this number (from 0). */
export type Scripts = readonly Script[] | ((requestIndex: number) => Script);

export type ScriptOrder = 'last-repeats' | 'cycle' | 'random';

export interface ReadyScript {
  text: string;
  timeline: Timeline;
}

export interface ScriptOrderOptions {
  scripts: Scripts;
  order: ScriptOrder;
  random: () => number;
}

/** Which script the request with this number gets. Throws `TimelineError` at once if one of a list cannot be played. */
export function scriptOrder({ scripts, order, random }: ScriptOrderOptions): (requestIndex: number) => ReadyScript {
  if (typeof scripts === 'function') return (requestIndex) => readyScript(scripts(requestIndex));
  const ready = scripts.map(readyScript);
  if (ready.length === 0) throw new TimelineError('an upstream needs at least one script');
  return (requestIndex) => ready[place({ order, random, requestIndex, count: ready.length })] as ReadyScript;
}

function place({ order, random, requestIndex, count }: { order: ScriptOrder; random: () => number; requestIndex: number; count: number }): number {
  switch (order) {
    case 'last-repeats':
      return Math.min(requestIndex, count - 1);
    case 'cycle':
      return requestIndex % count;
    case 'random':
      return Math.min(Math.floor(random() * count), count - 1);
    default:
      return order satisfies never;
  }
}

function readyScript(script: Script): ReadyScript {
  if (typeof script === 'string') return { text: script, timeline: parseTimeline(script) };
  const timeline = completeTimeline(script);
  return { text: formatTimeline(timeline), timeline };
}
