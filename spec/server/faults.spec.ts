import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultRows, heading } from './faultRows.js';
import { openScene } from './faultScene.js';
import type { Run, Scene } from './faultScene.js';
import { faults } from './faultTable.js';
import type { Delivery, Expected, Fault } from './faultTable.js';

const deliveries: readonly Delivery[] = ['commit', 'buffered', 'whole'];
const apartMs = 150;
const scenes: Scene[] = [];
const runs = new Map<string, Run>();

const nameOf = (fault: Fault, delivery: Delivery): string => `${fault.name}, ${delivery}`;
const cases = faults.flatMap((fault) => deliveries.map((delivery) => ({ fault, delivery, name: nameOf(fault, delivery) })));

// What takes long does so waiting, and waits side by side; the others run before, one at a time, since while this process is
// busy it takes no silence for one (T3), and neither should a slow machine be taken for a slow provider.
beforeAll(async () => {
  await (await opened(faults[0]!, 'commit')).run();
  for (const { fault, delivery } of cases) await opened(fault, delivery);
  const kinds = cases.map((one, place) => ({ ...one, run: scenes[place + 1]!.run, isLong: expectedOf(one).s[0] > 0 }));
  for (const { name, run } of kinds.filter(({ isLong }) => !isLong)) runs.set(name, await run());
  const waiting = kinds.filter(({ isLong }) => isLong).map(async ({ name, run }, place) => {
    await sleep(place * apartMs);
    runs.set(name, await run());
  });
  await Promise.all(waiting);
}, 60_000);

function expectedOf({ fault, delivery }: (typeof cases)[number]): Expected {
  return delivery === 'commit' ? fault.commit : fault.heldBack;
}

async function opened(fault: Fault, delivery: Delivery): Promise<Scene> {
  const scene = await openScene(fault, delivery);
  scenes.push(scene);
  return scene;
}

afterAll(async () => {
  await Promise.all(scenes.map((scene) => scene.close()));
  // FAULTS_FILE=faults.md writes the table of docs/front-door.md.
  if (process.env['FAULTS_FILE'] !== undefined) writeFileSync(process.env['FAULTS_FILE'], `${heading}\n\n${rows().join('\n')}\n`);
});

function rows(): string[] {
  return faultRows((fault, delivery) => runs.get(nameOf(fault, delivery))!);
}

describe('H12 faults of a provider, as a caller of the front door sees them', () => {
  test.each(cases)('$name', (one) => {
    const expected = expectedOf(one);
    const { got, requests, s, held } = runs.get(one.name)!;
    expect([...got].sort(byText)).toEqual([...expected.got].sort(byText));
    expect({ requests, held }).toEqual({ requests: expected.requests, held: 0 });
    expect(s).toBeGreaterThanOrEqual(expected.s[0]);
    expect(s).toBeLessThanOrEqual(expected.s[1]);
  });
});

test('the table of docs/front-door.md is what the run gave, but for the times', () => {
  const guide = readFileSync(new URL('../../docs/front-door.md', import.meta.url), 'utf8');
  const [, table = ''] = /<!-- faults -->\n([^]*?)<!-- \/faults -->/.exec(guide) ?? [];
  expect(withoutTimes(table.trim())).toBe(withoutTimes([heading, '', ...rows()].join('\n')));
});

function withoutTimes(table: string): string {
  return table.replace(/, \d+ s,/g, ', … s,');
}

function byText(one: object, other: object): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
