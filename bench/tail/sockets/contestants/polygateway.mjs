import { importBuilt } from '../../../support/places.mjs';
import { timeScale } from '../timeScale.mjs';

const { createGateway, settingsFromEnv } = await importBuilt('index.js');

// Limits that scale with the workload, at what docs/settings.md has. The connect limit is left alone: connecting is not sped up.
const defaults = {
  RETRY__BACKOFF_S: 0.5,
  RETRY__BACKOFF_MAX_S: 30,
  BACKPRESSURE__STALL_WINDOW_S: 300,
  BACKPRESSURE__POLL_S: 0.5,
  BREAKER__COOLDOWN_S: 30,
  BREAKER__COOLDOWN_MAX_S: 300,
  BREAKER__WINDOW_S: 60,
  STREAM__STALL_THRESHOLD_MS: 1000,
};
const sourceDefaults = { TIMEOUT_S: 300, TTFT_TIMEOUT_S: 120 };

export function open({ urls, method, settings }) {
  const gateway = createGateway({ settings: settingsFromEnv('LLM', envOf(urls, settings)) });
  const request = (content) => ({ messages: [{ role: 'user', content }] });
  const ask = {
    chat$: async (content) => (await gateway.chat(request(content))).content,
    stream$: (content) => collected(gateway.stream$(request(content))),
  }[method];
  return { ask, close: () => gateway.close() };
}

function envOf(urls, settings) {
  const sources = urls.map((url, nth) => ({ BASE_URL: url, MODEL: 'bench', ...scaled(sourceDefaults), provider: 'abc'[nth].toUpperCase() }));
  const ofSources = sources.flatMap(({ provider, ...keys }) => Object.entries(keys).map(([key, value]) => [`LLM__${provider}__1__${key}`, value]));
  const ofScope = Object.entries(scaled({ ...defaults, ...settings })).map(([key, value]) => [`LLM__${key}`, value]);
  return Object.fromEntries([...ofSources, ...ofScope].map(([key, value]) => [key, String(value)]));
}

const scaled = (keys) => Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, /_(S|MS)$/.test(key) ? value / timeScale : value]));

function collected(item$) {
  let text = '';
  return new Promise((resolve, reject) => {
    item$.subscribe({ next: (item) => { if (item.type === 'content') text += item.text; }, error: reject, complete: () => resolve(text) });
  });
}
