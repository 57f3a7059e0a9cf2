import { importBuilt } from '../../support/places.mjs';

const { createEmbedding, createGateway, createOcr } = await importBuilt('index.js');

const sourceLimits = { ttftTimeoutS: 0.7, interTokenTimeoutS: 0.7, timeoutS: 2, connectTimeoutS: 1, maxConcurrency: 8, tpm: 1_000_000 };
/** Short, so that every wait, limit and cool-down is met many times. */
const limits = {
  maxAttempts: 3,
  backoffS: 0.05,
  backoffMaxS: 0.4,
  pollS: 0.1,
  stallWindowS: 1,
  callDeadlineS: 2.5,
  breakerCooldownS: 0.3,
  breakerCooldownMaxS: 1,
  backendLeaseTtlS: 20,
};
const hedging = { hedgeAfterS: 0.3, hedgeStallAfterS: 0.15, hedgeMaxRatio: 0.4 };

/** What an application holds for as long as it runs, or until its settings change: one signal for all, and its gateways. */
export function openScopes({ ports, redisUrl, databaseFile, onRows, onEvent }) {
  const owner = new AbortController();
  const shared = { backendUrl: redisUrl, telemetryUrl: `sqlite:${databaseFile}` };
  const alone = { telemetry: { write: onRows } };
  const scopes = {
    shared: createGateway({ settings: settings('LLM', ports), ...hedging, ...shared }),
    alone: createGateway({ settings: settings('ALONE', ports.slice(0, 2)), ...hedging, selectStrategy: 'least_busy', ...alone }),
    embedding: createEmbedding({ settings: settings('EMBEDDING', ports, { maxBatch: 2 }), ...shared }),
    ocr: createOcr({ settings: settings('OCR', ports.slice(0, 2)), ...alone }),
  };
  const all = Object.values(scopes);
  for (const { events$ } of all) events$.subscribe(onEvent);
  return {
    ...scopes,
    owner,
    figures: () => figuresOf(all.map(({ stats }) => stats())),
    close: () => Promise.all(all.map(({ close }) => close())),
  };
}

function settings(scope, ports, more) {
  const sources = ports.map((port, at) => ({ provider: 'abc'[at], baseUrl: `http://127.0.0.1:${port}/v1`, model: 'm', ...sourceLimits, ...more }));
  return { scope, sources, ...limits };
}

function figuresOf(stats) {
  const sum = (of) => stats.map(of).reduce((total, count) => total + count, 0);
  return {
    calls: sum(({ calls }) => calls),
    attempts: sum(({ attempts, streams }) => Math.max(attempts, streams.length)),
    permits: sum(({ permits }) => Object.values(permits).reduce((total, count) => total + count, 0)),
    waiters: sum(({ waiters }) => waiters),
  };
}
