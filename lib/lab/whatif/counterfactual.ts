import type { CallShape, RoundShape } from './callShape.js';
import { groupBy } from './groupBy.js';
import { createLives } from './lives.js';
import type { Life, Lives } from './lives.js';
import { createPool } from './survival.js';
import type { Pool } from './survival.js';

/** What a call would have come to; written in place, since it is played millions of times. */
export interface Played {
  lengthMs: number;
  answered: boolean;
  requests: number;
  backups: number;
  /** Of all primaries; of those that lost against another attempt (the loser's in full, though it is cut: an upper bound). */
  primaryTokens: number;
  loserTokens: number;
}

/** One draw of all that is unknown about a call; whatever thresholds it is played with, they meet the same luck. */
export interface World {
  /** Unset thresholds are `Infinity`. */
  play(this: void, afterMs: number, stallAfterMs: number, into: Played): void;
}

export interface Worlds {
  readonly lives: Lives;
  /** How often each call counts in what is drawn from; `undefined`: once. */
  weigh(this: void, weightOfCall: ArrayLike<number> | undefined): void;
  draw(this: void, call: CallShape): World;
}

/** A failed call goes on with rounds drawn from others; this many are enough. */
const mostRounds = 20;

/** A round that failed, and the one after it; none: its call was given up. */
interface Sequel {
  readonly next: RoundShape | undefined;
  readonly call: CallShape;
  readonly at: number;
}

interface DrawnRound {
  readonly waitMs: number;
  readonly primary: Life;
  /** Drawn when first asked for. */
  backup(this: void): Life;
  /** What follows where it fails. */
  next(this: void): DrawnRound | undefined;
}

export function createWorlds(calls: readonly CallShape[], random: () => number): Worlds {
  const lives = createLives(calls, random);
  const sequels = sequelPools(calls);
  const longestMs = deadlineOf(calls);

  function openRound(call: CallShape, at: number): DrawnRound | undefined {
    const round = call.rounds[at];
    if (round === undefined) return undefined;
    return {
      waitMs: round.waitMs,
      primary: lives.complete(round.primary),
      backup: once(lives.backupsOf(round.primary.source)),
      next: once(() => {
        if (!round.open) return openRound(call, at + 1);
        const sequel = (sequels.get(Math.min(at, 2)) ?? sequels.get(-1))?.draw(random);
        return sequel === undefined ? undefined : openRound(sequel.call, sequel.at + 1);
      }),
    };
  }

  return {
    lives,
    weigh(weightOfCall) {
      lives.weigh(weightOfCall);
      for (const pool of sequels.values()) pool.weigh(weightOfCall);
    },
    draw(call) {
      const first = openRound(call, 0);
      // Whoever left, or had no time left, did so at that moment in any world.
      const endMs = call.endedBy === undefined ? (call.hidden ? longestMs : Infinity) : call.lengthMs;
      return { play: (afterMs, stallAfterMs, into) => playCall(first, afterMs, stallAfterMs, endMs, into) };
    },
  };
}

function playCall(first: DrawnRound | undefined, afterMs: number, stallAfterMs: number, endMs: number, into: Played): void {
  clear(into);
  let round = first;
  for (let count = 0; round !== undefined && count < mostRounds; count++) {
    playRound(round, afterMs, stallAfterMs, endMs, into);
    if (into.answered || into.lengthMs >= endMs) break;
    round = round.next();
  }
  if (into.lengthMs <= endMs) return;
  into.lengthMs = endMs;
  into.answered = false;
}

function playRound({ waitMs, primary, backup }: DrawnRound, afterMs: number, stallAfterMs: number, endMs: number, into: Played): void {
  const startMs = into.lengthMs + waitMs;
  into.lengthMs = startMs;
  if (startMs >= endMs) return;
  const askedMs = primary.triggerMs(afterMs, stallAfterMs);
  into.requests += 1;
  into.primaryTokens += primary.tokens;
  if (startMs + askedMs < endMs) {
    into.backups += 1;
    contest(primary, backup(), askedMs, into);
    return;
  }
  into.lengthMs = startMs + primary.lengthMs;
  into.answered = primary.end !== 'failed';
}

/** The first to answer wins; a failure, and a refusal, wait for the other (H4, H6, H7). */
function contest(primary: Life, backup: Life, askedMs: number, into: Played): void {
  const primaryMs = primary.lengthMs;
  const backupMs = askedMs + backup.lengthMs;
  const primaryWins = primary.end === 'answered' && (backup.end !== 'answered' || primaryMs <= backupMs);
  const backupWins = !primaryWins && backup.end === 'answered';
  into.answered = primary.end !== 'failed' || backup.end !== 'failed';
  into.lengthMs += primaryWins ? primaryMs : backupWins ? backupMs : Math.max(primaryMs, backupMs);
  // A primary that had failed by itself would have cost the same without a hedge.
  const failedBefore = primary.end === 'failed' && primaryMs <= backupMs;
  if (!backupWins) into.loserTokens += backup.tokens;
  else if (!failedBefore) into.loserTokens += primary.tokens;
}

function clear(into: Played): void {
  into.lengthMs = 0;
  into.answered = false;
  into.requests = 0;
  into.backups = 0;
  into.primaryTokens = 0;
  into.loserTokens = 0;
}

/** By the number of the round, all later ones together, and all of them under -1. */
function sequelPools(calls: readonly CallShape[]): Map<number, Pool<Sequel>> {
  const failed = calls.flatMap((call, group) =>
    call.rounds.flatMap((round, at) => (round.open ? [] : [{ value: { next: call.rounds[at + 1], call, at }, level: 0, group }])),
  );
  const byNumber = groupBy(failed, ({ value }) => Math.min(value.at, 2));
  return new Map([...byNumber, [-1, failed] as const].map(([number, members]) => [number, createPool(members)]));
}

/** No setting is in the rows; but a call that ended by its deadline shows it. */
function deadlineOf(calls: readonly CallShape[]): number {
  const ended = calls.filter(({ endedBy }) => endedBy === 'deadline').map(({ lengthMs }) => lengthMs);
  return ended.length === 0 ? Infinity : ended.reduce((most, lengthMs) => Math.max(most, lengthMs));
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
