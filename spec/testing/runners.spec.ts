import { expect, test } from '@jest/globals';
import { installedFolder } from './installedFolder.js';

const vitestFile = `
import { expect, test } from 'vitest';
import { marbles, like } from 'polygateway/testing';
import 'polygateway/testing/vitest';

const request = { messages: [{ role: 'user', content: 'hi' }] };
const options = { sources: { slow: '-a 60s b|', fast: '--x|' }, settings: { hedgeStallAfterS: 20 } };

test('passes', marbles(({ testGateway, expectObservable, expectSockets, afterwards }) => {
  const gateway = testGateway(options);
  expectObservable(gateway.chat$(request)).toBe('- 20s ---(r|)', { r: expect.objectContaining({ content: 'x' }) });
  expectSockets(gateway, { slow: '^ 20s ---!' });
  afterwards(() => {
    expect(gateway).toHaveCalls([{ source: expect.stringMatching(/^fast$/) }]);
    expect(gateway).not.toHaveHedges([]);
    expect(gateway).toHaveSockets({ fast: '- 20s ^--!' });
    expect(gateway).toBeAtRest();
  });
}));

test('fails in a matcher', marbles(({ testGateway, expectObservable, afterwards }) => {
  const gateway = testGateway(options);
  expectObservable(gateway.chat$(request)).toBe('- 20s ---(r|)', { r: like({ content: 'x' }) });
  afterwards(() => expect(gateway).toHaveCalls([{ source: 'slow' }]));
}));

test('fails in a diagram', marbles(({ testGateway, expectObservable }) => {
  const r = { r: like({ content: 'x' }) };
  const gateway = testGateway(options);
  expectObservable(gateway.chat$(request)).toBe('- 20s --(r|)', r);
}));
`;

test('in vitest, the matchers pass and fail with their own words, and a wrong diagram is shown where it was written', async () => {
  using folder = installedFolder(['vitest', 'rxjs']);
  folder.write('marble.test.js', vitestFile);
  const { code, output } = await folder.node(['node_modules/vitest/vitest.mjs', 'run', '--pool=threads']);
  expect(output).toMatch(/2 failed \| 1 passed/);
  expect(output).toContain('Call 1 of 1 differs in source: expected "slow", got "fast".');
  expect(output).toContain('MarbleMismatch: From 20.003 s on, everything came 1 ms late.');
  expect(output).toContain('actual    - 20s ---(r|)');
  expect(output).toMatch(/❯ marble\.test\.js:\d+:\d+\n[^❯]*expectObservable[^\n]*toBe\('- 20s --\(r\|\)', r\);\n +\| +\^/);
  expect(code).toBe(1);
}, 40_000);

const nodeFile = `
import { test } from 'node:test';
import { assertAtRest, assertCalls, like, marbles } from 'polygateway/testing';

const request = { messages: [{ role: 'user', content: 'hi' }] };

test('passes', marbles(({ testGateway, expectObservable, expectHedges, afterwards }) => {
  const gateway = testGateway({ sources: { slow: '-a 60s b|', fast: '--x|' }, settings: { hedgeStallAfterS: 20 } });
  expectObservable(gateway.chat$(request)).toBe('- 20s ---(r|)', { r: like({ content: 'x' }) });
  expectHedges(gateway, [{ from: 'slow', to: 'fast', atMs: 20_001 }]);
  afterwards(() => {
    assertCalls(gateway, [{ source: 'fast' }]);
    assertAtRest(gateway);
  });
}));

test('fails', marbles(({ testGateway, expectObservable }) => {
  const gateway = testGateway({ sources: { only: '-a|' } });
  expectObservable(gateway.chat$(request)).toBe('---(r|)', { r: like({ content: 'a' }) });
}));
`;

test('node:test alone will do, without jest, vitest or any other package', async () => {
  using folder = installedFolder(['rxjs']);
  folder.write('marble.test.js', nodeFile);
  const { code, output } = await folder.node(['--test', 'marble.test.js']);
  expect(output).toMatch(/pass 1\n[\s\S]*fail 1\n/);
  expect(output).toContain('From 3 ms on, everything came 1 ms early.');
  expect(output).toContain('actual    --(r|)');
  expect(code).toBe(1);
}, 40_000);
