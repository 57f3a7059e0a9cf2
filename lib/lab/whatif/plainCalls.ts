import type { CallShape } from './callShape.js';
import type { Life, Lives } from './lives.js';
import { triggerMs } from './replay.js';

/** Over all calls, without hedging. */
export interface Sums {
  ms: number;
  requests: number;
  primaryTokens: number;
}

/** Over all calls, against no hedging. */
export interface Difference {
  savedMs: number;
  fewerFailed: number;
  backups: number;
  loserTokens: number;
  hidden: number;
  hiddenHedged: number;
}

/**
 * What nearly all calls are: one round, answered by its primary, of which everything is known. Such a call is a few numbers,
 * so that millions of them take seconds; every other call is played round by round.
 */
export interface PlainCalls {
  has(this: void, call: number): boolean;
  /** Draws a backup for each plain call among the chosen, and sums them up. */
  draw(this: void, chosen: Uint32Array, sums: Sums): void;
  /** Writes the length that each of them has with one of the limits to its place. */
  play(this: void, limit: number, lengths: Float64Array, difference: Difference): void;
}

export function createPlainCalls(calls: readonly CallShape[], limits: readonly { readonly afterMs: number; readonly stallAfterMs: number }[], lives: Lives): PlainCalls {
  const plain = Uint8Array.from(calls, (call) => (isPlain(call) ? 1 : 0));
  const primaries = calls.map(({ rounds: [round] }, call) => (round === undefined || plain[call] === 0 ? undefined : lives.complete(round.primary)));
  const ownMs = Float64Array.from(primaries, (life) => life?.lengthMs ?? 0);
  const ownTokens = Float64Array.from(primaries, (life) => life?.tokens ?? 0);
  const waitMs = Float64Array.from(calls, ({ rounds: [round] }) => round?.waitMs ?? 0);
  const askedMs = limits.map(() => new Float64Array(calls.length).fill(Infinity));
  calls.forEach(({ rounds: [round] }, call) => {
    if (round === undefined || plain[call] === 0) return;
    askedMs.forEach((asked, at) => {
      const { afterMs, stallAfterMs } = limits[at] ?? { afterMs: Infinity, stallAfterMs: Infinity };
      asked[call] = triggerMs(round.primary, afterMs, stallAfterMs);
    });
  });
  const drawerOf = new Map(calls.flatMap(({ rounds }) => rounds.map(({ primary: { source } }) => source)).map((source) => [source, lives.backupsOf(source)]));
  const drawers = calls.map(({ rounds: [round] }) => drawerOf.get(round?.primary.source ?? ''));
  const asks = Uint8Array.from(calls, (_, call) => (askedMs.some((asked) => asked[call] !== Infinity) ? 1 : 0));
  // By place: the calls that are plain, and each one's backup; one that fails never ends.
  const callAt = new Int32Array(calls.length);
  const backupMs = new Float64Array(calls.length);
  const backupTokens = new Float64Array(calls.length);

  return {
    has: (call) => plain[call] === 1,
    draw(chosen, sums) {
      chosen.forEach((call, place) => {
        callAt[place] = plain[call] === 1 ? call : -1;
        if (plain[call] !== 1) return;
        sums.ms += (waitMs[call] ?? 0) + (ownMs[call] ?? 0);
        sums.requests += 1;
        sums.primaryTokens += ownTokens[call] ?? 0;
        if (asks[call] === 0) return;
        const backup = (drawers[call] as () => Life)();
        backupMs[place] = backup.end === 'answered' ? backup.lengthMs : Infinity;
        backupTokens[place] = backup.tokens;
      });
    },
    play(limit, lengths, difference) {
      const asked = askedMs[limit] as Float64Array;
      let savedMs = 0;
      let backups = 0;
      let loserTokens = 0;
      for (let place = 0; place < callAt.length; place++) {
        const call = callAt[place] ?? -1;
        if (call < 0) continue;
        const lengthMs = ownMs[call] ?? 0;
        const startMs = asked[call] ?? Infinity;
        const savesMs = startMs === Infinity ? 0 : Math.max(0, lengthMs - startMs - (backupMs[place] ?? 0));
        lengths[place] = (waitMs[call] ?? 0) + lengthMs - savesMs;
        if (startMs === Infinity) continue;
        savedMs += savesMs;
        backups += 1;
        loserTokens += (savesMs > 0 ? ownTokens[call] : backupTokens[place]) ?? 0;
      }
      difference.savedMs += savedMs;
      difference.backups += backups;
      difference.loserTokens += loserTokens;
    },
  };
}

function isPlain({ rounds, hidden }: CallShape): boolean {
  return rounds.length === 1 && !hidden && rounds[0]?.primary.end === 'answered';
}
