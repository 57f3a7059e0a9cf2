import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Ledger } from './rig.js';
import type { Scripts } from './rigScripts.js';

/** The scripts of one source, what Redis holds of it, and the server's clock. */
export interface Bench {
  readonly scripts: Scripts;
  readonly ledger: Ledger;
  readonly clock: { nowMs: number };
}

export type Step =
  | { readonly type: 'enter' }
  /** A question that was heard is said again. */
  | { readonly type: 'enter-again'; readonly which: number }
  | { readonly type: 'renew'; readonly which: readonly number[] }
  | { readonly type: 'settle'; readonly which: number; readonly result: string; readonly mayBeHeardLate: boolean }
  | { readonly type: 'wait'; readonly share: number }
  | { readonly type: 'flush' };

const which = fc.nat(30);
const result = fc.constantFrom('success', 'failure', 'rate-limited', 'cancelled', 'unsent');

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant({ type: 'enter' } as const) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('enter-again' as const), which }) },
    { weight: 5, arbitrary: fc.record({ type: fc.constant('renew' as const), which: fc.array(which, { maxLength: 4 }) }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('settle' as const), which, result, mayBeHeardLate: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('wait' as const), share: fc.constantFrom(0, 0.01, 0.2, 0.4, 0.9999, 1, 1.0001, 2.5) }) },
    { weight: 2, arbitrary: fc.constant({ type: 'flush' } as const) },
  ),
  { minLength: 5, maxLength: 40 },
);

/** What a holder knows of its lease: since when it has been sure of it, and what became of it. */
interface Note {
  readonly id: string;
  confirmedMs: number;
  ended: 'no' | 'settled' | 'lost';
  /** Released with something mayBeHeardLate: whatever of it is heard now comes too late. */
  isVoid: boolean;
}

interface Play extends Bench {
  readonly limit: number;
  readonly ttlMs: number;
  readonly notes: Note[];
}

/** Takes the steps and looks after each whether all that must hold of leases holds. */
export async function playLeases(bench: Bench, { steps: taken, ...rules }: { readonly steps: readonly Step[]; readonly limit: number; readonly ttlMs: number }): Promise<void> {
  const play: Play = { ...bench, ...rules, notes: [] };
  for (const step of taken) {
    const before = await untilMsById(bench.ledger);
    const touched = await take(play, step, before);
    await expectLeasesToHold(play, before, touched);
    await expectSumsToAgree(bench.ledger);
    expect(await bench.ledger.lasting()).toEqual([]);
  }
}

/** Gives the ids that were spoken of. */
async function take(play: Play, step: Step, before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  switch (step.type) {
    case 'enter':
      return enter(play, before);
    case 'enter-again':
      return enterAgain(play, noted(play, step.which), before);
    case 'renew':
      return renew(play, [...new Set(step.which.flatMap((index) => noted(play, index) ?? []))]);
    case 'settle':
      return settle(play, noted(play, step.which), step);
    case 'wait':
      play.clock.nowMs += play.ttlMs * step.share;
      return [];
    case 'flush':
      await play.ledger.client.del(...Object.values(play.ledger.keys));
      for (const note of play.notes) note.isVoid = false;
      return [];
    default:
      return step satisfies never;
  }
}

const noted = ({ notes }: Play, index: number): Note | undefined => notes[index % Math.max(1, notes.length)];

async function enter({ scripts, clock, limit, notes }: Play, before: ReadonlyMap<string, number>): Promise<string[]> {
  const note: Note = { id: `lease-${notes.length}`, confirmedMs: clock.nowMs, ended: 'no', isVoid: false };
  const alive = [...before.values()].filter((untilMs) => untilMs > clock.nowMs).length;
  const { refused } = await scripts.enter(note.id);
  expect(refused?.inUse).toBe(alive < limit ? undefined : limit);
  if (refused === undefined) notes.push(note);
  return [note.id];
}

async function enterAgain({ scripts, clock }: Play, note: Note | undefined, before: ReadonlyMap<string, number>): Promise<string[]> {
  if (note?.ended !== 'no' || (before.get(note.id) ?? 0) <= clock.nowMs) return [];
  expect((await scripts.enter(note.id)).refused).toBeUndefined();
  // It was granted then, and not for longer now.
  return [];
}

async function renew({ scripts, clock, ttlMs }: Play, notes: readonly Note[]): Promise<string[]> {
  const asked = notes.filter(({ ended, isVoid }) => ended === 'no' || isVoid);
  const lost = await scripts.renew(asked.map(({ id, confirmedMs }) => ({ id, sinceMs: clock.nowMs - confirmedMs })));
  for (const note of asked) {
    if (note.isVoid) expect(lost).toContain(note.id);
    else if (lost.includes(note.id)) note.ended = 'lost';
    else {
      expect(clock.nowMs - note.confirmedMs).toBeLessThan(ttlMs);
      note.confirmedMs = clock.nowMs;
    }
  }
  return asked.map(({ id }) => id);
}

/** Says it twice, since a release is said until it is heard. */
async function settle({ scripts, ledger }: Play, note: Note | undefined, { result: how, mayBeHeardLate }: { readonly result: string; readonly mayBeHeardLate: boolean }): Promise<string[]> {
  if (note === undefined) return [];
  const say = (): Promise<unknown> => scripts.settle(note.id, how, { tokens: 40, mayBeHeardLate });
  await say();
  const once = await dump(ledger);
  await say();
  expect(await dump(ledger)).toEqual(once);
  note.ended = 'settled';
  note.isVoid = mayBeHeardLate;
  return [note.id];
}

async function untilMsById({ client, keys }: Ledger): Promise<Map<string, number>> {
  const flat = await client.zrange(keys.leases, '0', '-1', 'WITHSCORES');
  return new Map(flat.flatMap((id, at) => (at % 2 === 0 ? [[id, Number(flat[at + 1])] as const] : [])));
}

async function dump(ledger: Ledger): Promise<unknown> {
  const { client, keys } = ledger;
  const hashes = await Promise.all([keys.held, keys.spending, keys.source].map((key) => client.hgetall(key)));
  return [await untilMsById(ledger), hashes, await client.zrange(keys.window, '0', '-1', 'WITHSCORES'), await client.get(keys.breaker)];
}

async function expectLeasesToHold({ ledger, clock, notes, limit, ttlMs }: Play, before: ReadonlyMap<string, number>, touched: readonly string[]): Promise<void> {
  const after = await untilMsById(ledger);
  const alive = [...after].filter(([, untilMs]) => untilMs > clock.nowMs).map(([id]) => id);
  expect(alive.length).toBeLessThanOrEqual(limit);
  for (const [id, untilMs] of after) {
    const note = notes.find((known) => known.id === id);
    // Nobody's lease is longer for what was said of another, nor longer than its holder may think.
    if (!touched.includes(id)) expect(untilMs).toBe(before.get(id));
    expect(untilMs).toBeLessThanOrEqual((note?.confirmedMs ?? 0) + ttlMs);
    if (alive.includes(id)) expect(note?.ended).toBe('no');
  }
  expect([...after.keys()].sort()).toEqual((await ledger.client.hkeys(ledger.keys.held)).sort());
}

/** What was spent is the sum of what each has spent, and never less than nothing. */
async function expectSumsToAgree({ client, keys }: Ledger): Promise<void> {
  const { '#tokens': tokens = '0', '#running': running = '0', ...spent } = await client.hgetall(keys.spending);
  const figures = Object.values(spent).map((text) => text.split(':').map(Number));
  expect(Number(tokens)).toBe(figures.reduce((sum, [figure = 0]) => sum + figure, 0));
  expect(Number(running)).toBe(figures.reduce((sum, [figure = 0, isRunning]) => sum + (isRunning === 1 ? figure : 0), 0));
}
