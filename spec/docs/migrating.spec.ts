import { afterAll, afterEach, expect, test } from '@jest/globals';
import { closeAll, frontDoorTo, upstream } from '../server/frontDoorScene.js';
import { ofLanguage } from './blocks.js';
import { isAsSaid, saidLines } from './printed.js';
import { readerFolder } from './readerFolder.js';
import { runProcess } from './runProcess.js';

const clients = ['openai', '@ai-sdk/openai-compatible', '@langchain/openai'];
const code = ofLanguage('ts').filter(({ guide }) => guide === 'docs/migrating.md');
const folder = await readerFolder(code);

afterEach(closeAll);
afterAll(() => folder.remove());

// The first block of each is a whole answer, the one of `ai` that is taken here a stream.
test.each(clients)('docs/migrating.md: what %s does at a provider it does at the front door, with another base URL and nothing else', async (client) => {
  const source = await upstream(['d@0.01"Hello" d@0.02" there" f@0.03 u(3,2)']);
  const { url, finished } = await frontDoorTo([source.url]);
  const block = code.find((one) => one.code.includes(`from '${client}'`) && (!client.startsWith('@ai-sdk') || one.code.includes('streamText')))!;

  const end = await runProcess([folder.javascriptOf(block)], { cwd: folder.path, env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'any' }, timeoutMs: 60_000 });

  expect(end).toMatchObject({ code: 0, stderr: '' });
  expect(isAsSaid(end.stdout, saidLines(block.code) ?? [])).toBe(true);
  expect(finished).toHaveLength(1);
  expect(source.requests).toHaveLength(1);
}, 70_000);
