/** The programs of those who install the package: file name and text. */
export const programs = {
  'use.mjs': `
import { createGateway } from 'polygateway';
import { silence } from 'polygateway/operators';
import { marbles } from 'polygateway/testing';
import { interval, take } from 'rxjs';

const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'sim', baseUrl: process.argv[2], model: 'sim' }] } });
const { content } = await gateway.chat({ messages: [{ role: 'user', content: 'Say hello.' }] });
await gateway.close();
interval(1).pipe(take(1), silence({ firstMs: 1_000, betweenMs: 1_000 })).subscribe();
marbles(({ testGateway, expectObservable }) => expectObservable(testGateway({ sources: { one: '-a|' } }).events$.pipe(take(0))).toBe('|'))();
console.log(content);
`,
  'use.cjs': `
const { createGateway, ConfigError } = require('polygateway');
const { hedge } = require('polygateway/operators');
const { marbles } = require('polygateway/testing');
const { Observable } = require('rxjs');

async function main() {
  const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'sim', baseUrl: process.argv[2], model: 'sim' }] } });
  const chat$ = gateway.chat$({ messages: [{ role: 'user', content: 'Say hello.' }] });
  if (!(chat$ instanceof Observable)) throw new Error('there are two copies of rxjs');
  const { content } = await gateway.chat({ messages: [{ role: 'user', content: 'Say hello.' }] });
  await gateway.close();
  console.log(content);
}
if (![ConfigError, hedge, marbles].every((known) => typeof known === 'function')) throw new Error('an entry point is empty');
main();
`,
  'peers.mjs': `
import { createGateway } from 'polygateway';

const settings = { scope: 'LLM', sources: [{ provider: 'sim', baseUrl: 'http://127.0.0.1:1/v1', model: 'sim' }] };
for (const asking of [{ telemetryUrl: 'sqlite:./rows.db' }, { telemetryUrl: 'postgres://127.0.0.1/rows' }, { backendUrl: 'redis://127.0.0.1' }]) {
  try {
    await createGateway({ settings: { ...settings, ...asking } }).close();
    console.log('no error');
  } catch (error) {
    console.log(error.code, /npm install [-\\w]+/.exec(error.message)?.[0]);
  }
}
`,
  'use.mts': `
import { createEmbedding, createGateway, createOcr, settingsFromEnv, toReadableStream } from 'polygateway';
import type { ChatResponse, Gateway } from 'polygateway';
import { hedge, silence, stallMetrics } from 'polygateway/operators';
import { marbles, scriptedSource, testGateway } from 'polygateway/testing';
import { interval, map } from 'rxjs';
import type { Observable } from 'rxjs';

const gateway: Gateway = createGateway({ settings: settingsFromEnv('LLM', {}), hedgeStallAfterS: 20 });
export const text$: Observable<string> = gateway.chat$({ messages: [{ role: 'user', content: 'hi' }] }).pipe(map(({ content }: ChatResponse) => content));
export const silence$: Observable<unknown> = interval(10).pipe(silence({ firstMs: 10, betweenMs: 20 }));
export const test: () => void = marbles(({ testGateway, expectObservable, expectSubscriptions }) => {
  const { chat$, sources } = testGateway({ sources: { slow: '-a|' } });
  expectObservable(chat$({ messages: [] }));
  expectSubscriptions(sources.slow.subscriptions).toBe('^-!');
});
export { createEmbedding, createOcr, hedge, scriptedSource, stallMetrics, testGateway, toReadableStream };
`,
};

/** CommonJS in TypeScript: allowed for a package of ES modules from TypeScript 5.8 on, with `module: nodenext`. */
export const commonJsTypes = {
  'use.cts': `
import polygateway = require('polygateway');
import operators = require('polygateway/operators');

const gateway: polygateway.Gateway = polygateway.createGateway({ settings: polygateway.settingsFromEnv('LLM', {}) });
export const loudest = [gateway, operators.hedge];
`,
};

const resolutions = { nodenext: 'nodenext', esnext: 'bundler' };

/** Settings of a TypeScript project: `resolution.json` and its content. What needs `@types/node`, or our dependencies' own types, would fail. */
export const projects = Object.fromEntries(
  Object.entries(resolutions).flatMap(([module, moduleResolution]) =>
    [true, false].map((strict) => [
      `${moduleResolution}-${strict ? 'strict' : 'loose'}.json`,
      { compilerOptions: { module, moduleResolution, strict, exactOptionalPropertyTypes: strict, skipLibCheck: false, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], types: [] }, files: ['use.mts'] },
    ]),
  ),
);
