import { completeTimeline } from './completeTimeline.js';
import type { Timeline } from './timeline.js';

export interface RandomTimelineOptions {
  /** From 0 to below 1; seed it (`mulberry32`) to see the same answers again. */
  random: () => number;
  /** Share of the answers that fall silent in the middle, 0 to 1; default 0.2. */
  stallShare?: number;
  /** How long they are silent; default 3000 to 8000 ms. */
  stallMinMs?: number;
  stallMaxMs?: number;
  /** Pieces of text; default 40. A silence needs two. */
  increments?: number;
  /** Mean wait for the first piece; default 400 ms. */
  firstMs?: number;
  /** Mean gap between two pieces; default 50 ms. */
  gapMs?: number;
  /** Tokens that the request is said to have had; default 20. */
  promptTokens?: number;
}

/** A plausible answer: words with gaps as a model makes them, and now and then a silence in the middle. */
export function randomTimeline({
  random,
  stallShare = 0.2,
  stallMinMs = 3000,
  stallMaxMs = 8000,
  increments = 40,
  firstMs = 400,
  gapMs = 50,
  promptTokens = 20,
}: RandomTimelineOptions): Timeline {
  const stalls = random() < stallShare && increments > 1;
  const silentBefore = stalls ? 1 + Math.floor(random() * (increments - 1)) : -1;
  const silentMs = stallMinMs + random() * (stallMaxMs - stallMinMs);
  let atMs = 0;
  const pieces = Array.from({ length: increments }, (_, at) => {
    atMs += at === silentBefore ? silentMs : gapAround(at === 0 ? firstMs : gapMs, random);
    return { type: 'content' as const, atMs: Math.round(atMs), text: wordAt(at, increments) };
  });
  const endMs = Math.round(atMs + gapAround(gapMs, random));
  return completeTimeline([
    ...pieces,
    { type: 'finish', atMs: endMs, reason: 'stop' },
    { type: 'usage', atMs: endMs, promptTokens, completionTokens: increments },
  ]);
}

/** Mostly short, sometimes several times the mean, never so long that it would pass for a silence. */
function gapAround(meanMs: number, random: () => number): number {
  return meanMs * Math.min(5, 0.3 - 0.7 * Math.log(1 - Math.min(random(), 0.999)));
}

const words = 'a slow stream is still a stream but a silent one may never speak again so we ask another and take whoever ends first'.split(' ');

function wordAt(at: number, count: number): string {
  return `${words[at % words.length] ?? ''}${at === count - 1 ? '.' : ' '}`;
}
