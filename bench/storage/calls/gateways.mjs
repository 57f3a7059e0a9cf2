import { from } from 'rxjs';
import { importBuilt } from '../../support/places.mjs';

const [{ createGateway }, { scriptedSource }] = await Promise.all(['index', 'sources/scriptedSource'].map((name) => importBuilt(`${name}.js`)));

const increments = 20;
const text = 'so it goes ';

const deltas = [
  ...Array.from({ length: increments }, () => ({ type: 'content', text })),
  { type: 'finish', reason: 'stop' },
  { type: 'usage', usage: { promptTokens: 8, completionTokens: increments, totalTokens: 8 + increments, reasoningTokens: null, cachedTokens: null } },
];

/** A gateway whose one source answers in process and at once, so that what is measured is the engine and what is stored. */
export function openGateway({ telemetry, ...settings }) {
  const source = { ...scriptedSource({ id: 'a/1', scripts: [] }), stream: () => from(deltas) };
  return createGateway({ settings: { scope: 'LLM', sources: [], ...settings }, sources: [source], ...(telemetry && { telemetry }) });
}

/** Calls one after the other; an answer that is not whole is a failure. */
export async function callInARow(gateway, count) {
  for (let left = count; left > 0; left -= 1) {
    const { content } = await gateway.chat({ messages: [{ role: 'user', content: 'What happened?' }], tags: { team: 'search', env: 'prod' } });
    if (content !== text.repeat(increments)) throw new Error(`An answer of ${content.length} characters came back, not ${text.length * increments}.`);
  }
}
