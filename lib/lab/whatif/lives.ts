import type { AttemptShape, CallShape, CutState, End } from './callShape.js';
import { groupBy } from './groupBy.js';
import { triggerMs } from './replay.js';
import { createPool } from './survival.js';
import type { Member, Pool } from './survival.js';

/** An attempt as it would have gone had nobody cut it. */
export interface Life {
  readonly lengthMs: number;
  readonly end: Exclude<End, 'cut'>;
  readonly tokens: number;
  /** When it would have asked for a backup, in ms after its start; `Infinity`: never. */
  triggerMs(this: void, afterMs: number, stallAfterMs: number): number;
}

/** Draws what nobody saw: how cut attempts would have gone on, and how a backup would have gone. */
export interface Lives {
  weigh(this: void, weightOfCall: ArrayLike<number> | undefined): void;
  complete(this: void, attempt: AttemptShape): Life;
  /** Draws attempts at other sources, as if each had been the backup of one at `source`. */
  backupsOf(this: void, source: string): () => Life;
  /** Completions so far, and those among them that nobody outlived, so that they were taken to end, answered, where they were cut. */
  readonly drawn: { completed: number; restricted: number };
}

/** So many draws for one in the same state, then the last one serves. */
const mostTries = 50;
const steadyAtLeastMs = 1000;

/** Fewer observed backups than this say nothing about where backups go. */
const enoughBackups = 20;

interface Part {
  readonly attempt: AttemptShape;
  /** Where in this attempt the one before goes on, and what is to be added to this attempt's times. */
  readonly fromMs: number;
  readonly shiftMs: number;
}

export function createLives(calls: readonly CallShape[], random: () => number): Lives {
  const members = calls.flatMap(({ rounds }, group) => rounds.flatMap(({ primary, backups }) => [primary, ...backups].map((attempt) => ({ attempt, group }))));
  const bySource = groupBy(members, ({ attempt }) => attempt.source);
  const tokens = tokenGuesses(members.map(({ attempt }) => attempt));
  const pools = new Map<string, Pool<AttemptShape>>();
  const known = new Map<AttemptShape, Life>();
  const drawn = { completed: 0, restricted: 0 };
  // All attempts of a source, each ready to be drawn.
  const wholes = new Map([...bySource].map(([source, group]) => [source, createPool(group.map((member) => ({ value: drawOf(member.attempt), level: 0, group: member.group })))]));
  const others = new Map([...wholes.keys()].map((source) => [source, backupSources(calls, source, [...wholes.keys()]).map(([id, weight]) => ({ weight, wholes: wholes.get(id) as Pool<() => Life> }))]));
  let weights: ArrayLike<number> | undefined;

  function pool(key: string, source: string, levelOf: (attempt: AttemptShape) => number | undefined): Pool<AttemptShape> {
    const made = pools.get(key);
    if (made !== undefined) return made;
    const comparable = (bySource.get(source) ?? []).flatMap(({ attempt, group }): Member<AttemptShape>[] => {
      const level = levelOf(attempt);
      return level === undefined ? [] : [{ value: attempt, level, group }];
    });
    const fresh = createPool(comparable);
    fresh.weigh(weights);
    pools.set(key, fresh);
    return fresh;
  }

  /** One that came further in the same state, and the moment at which it was there. */
  function successor(source: string, state: CutState): { attempt: AttemptShape; fromMs: number } | undefined {
    const { key, levelOf, above, momentOf, steadyMs } = comparison(state);
    const comparable = pool(`${key} ${source}`, source, levelOf);
    let found: { attempt: AttemptShape; fromMs: number } | undefined;
    for (let tries = 0; tries < mostTries; tries++) {
      const attempt = comparable.draw(random, above);
      if (attempt === undefined) return undefined;
      found = { attempt, fromMs: momentOf(attempt) };
      if (triggerMs(attempt, Infinity, steadyMs) > found.fromMs) return found;
    }
    return found;
  }

  function complete(attempt: AttemptShape): Life {
    return known.get(attempt) ?? goOn(attempt);
  }

  function drawOf(attempt: AttemptShape): () => Life {
    const life = attempt.cut === undefined ? goOn(attempt) : undefined;
    if (life === undefined) return () => goOn(attempt);
    known.set(attempt, life);
    return () => life;
  }

  function goOn(attempt: AttemptShape): Life {
    const parts: Part[] = [{ attempt, fromMs: 0, shiftMs: 0 }];
    let last = parts[0] as Part;
    if (attempt.cut !== undefined) drawn.completed += 1;
    while (last.attempt.cut !== undefined) {
      const next = successor(attempt.source, last.attempt.cut);
      if (next === undefined) {
        drawn.restricted += 1;
        break;
      }
      last = { ...next, shiftMs: last.shiftMs + last.attempt.lengthMs - next.fromMs };
      parts.push(last);
    }
    const { end } = last.attempt;
    return {
      lengthMs: last.shiftMs + last.attempt.lengthMs,
      end: end === 'cut' ? 'answered' : end,
      tokens: attempt.tokens ?? tokens(attempt),
      triggerMs: (afterMs, stallAfterMs) => firstTrigger(parts, afterMs, stallAfterMs),
    };
  }

  return {
    drawn,
    complete,
    weigh(weightOfCall) {
      weights = weightOfCall;
      for (const each of [...pools.values(), ...wholes.values()]) each.weigh(weightOfCall);
    },
    backupsOf(source) {
      const from = others.get(source) ?? [];
      return () => {
        const total = from.reduce((sum, { weight, wholes: { total: all } }) => sum + (weight ?? all()), 0);
        let left = random() * total;
        const chosen = from.find(({ weight, wholes: { total: all } }) => (left -= weight ?? all()) < 0) ?? from[0];
        const life = chosen?.wholes.draw(random);
        if (life === undefined) throw new Error(`no attempt is known that could stand for a backup of one at ${source}`);
        return life();
      };
    },
  };
}

/** Each part counts until the next takes over, which happens at the moment where it was cut. */
function firstTrigger(parts: readonly Part[], afterMs: number, stallAfterMs: number): number {
  if (afterMs === Infinity && stallAfterMs === Infinity) return Infinity;
  for (let at = 0; at < parts.length; at++) {
    const { attempt, fromMs, shiftMs } = parts[at] as Part;
    const atMs = triggerMs(attempt, afterMs, stallAfterMs, fromMs);
    if (atMs !== Infinity) return shiftMs + atMs;
  }
  return Infinity;
}

interface Comparison {
  readonly key: string;
  /** `undefined`: never was in this state. */
  readonly levelOf: (attempt: AttemptShape) => number | undefined;
  readonly above: number;
  readonly momentOf: (attempt: AttemptShape) => number;
  /** Until that moment it was not silent for longer than this. */
  readonly steadyMs: number;
}

function comparison(state: CutState): Comparison {
  if (state.type === 'speaking') {
    const { overMs, sinceMs, longestMs } = state;
    const beganMs = (attempt: AttemptShape): number | undefined => (overMs === null ? attempt.firstMs : endOfGap(attempt, overMs));
    return {
      key: `speaking ${overMs ?? 'first'}`,
      levelOf: (attempt) => {
        const began = beganMs(attempt);
        return began === undefined || began >= attempt.lengthMs ? undefined : attempt.lengthMs - began;
      },
      above: sinceMs,
      momentOf: (attempt) => (beganMs(attempt) ?? 0) + sinceMs,
      // One that stalls already, or has stalled, is not where a steady stream is.
      steadyMs: Math.max(steadyAtLeastMs, 2 * longestMs),
    };
  }
  const { kind, silentMs } = state;
  if (kind === 'first') return { key: 'first', levelOf: ({ firstMs }) => firstMs, above: silentMs, momentOf: () => silentMs, steadyMs: Infinity };
  return {
    key: 'between',
    levelOf: ({ longestMs }) => longestMs,
    above: silentMs,
    momentOf: ({ gaps }) => (gaps.find(([, gap]) => gap > silentMs)?.[0] ?? 0) + silentMs,
    steadyMs: Infinity,
  };
}

function endOfGap({ gaps }: AttemptShape, overMs: number): number | undefined {
  const gap = gaps.find(([, lengthMs]) => lengthMs > overMs);
  return gap === undefined ? undefined : gap[0] + gap[1];
}

/** Where backups of a source's primaries go, and how often; without a weight: as often as attempts went there. */
function backupSources(calls: readonly CallShape[], source: string, sources: readonly string[]): readonly (readonly [string, number | undefined])[] {
  const backups = calls.flatMap(({ rounds }) => rounds.filter(({ primary }) => primary.source === source).flatMap((round) => round.backups));
  if (backups.length >= enoughBackups) return [...groupBy(backups, (backup) => backup.source)].map(([other, group]) => [other, group.length] as const);
  const rest = sources.filter((other) => other !== source);
  return (rest.length > 0 ? rest : [source]).map((other) => [other, undefined] as const);
}

/** Prompt and typical completion, or a typical total, of the attempt's source, else of all; `NaN` where nothing is known. */
function tokenGuesses(attempts: readonly AttemptShape[]): (attempt: AttemptShape) => number {
  const means = (group: readonly AttemptShape[]): { total: number | undefined; completion: number | undefined } => ({
    total: mean(group.filter(({ end }) => end === 'answered').map(({ tokens }) => tokens)),
    completion: mean(group.map(({ completionTokens }) => completionTokens)),
  });
  const overall = means(attempts);
  const bySource = new Map([...groupBy(attempts, ({ source }) => source)].map(([source, group]) => [source, means(group)]));
  return ({ source, promptTokens }) => {
    const { completion = overall.completion, total = overall.total } = bySource.get(source) ?? overall;
    return promptTokens === undefined || completion === undefined ? (total ?? NaN) : promptTokens + completion;
  };
}

function mean(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, figure) => sum + figure, 0) / known.length;
}
