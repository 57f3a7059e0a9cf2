import { importBuilt } from '../support/places.mjs';

const messages = [{ role: 'user', content: 'Say hello.' }];

/**
 * The product: every second stream has the watchdog's limit, the others that of the hedge. `onDelta` is called within what handles a delta, `onStall`
 * once for each call that is found silent; `counts` are the deltas that each stream has had.
 */
export async function openGateways({ baseUrl, silentMs, onDelta, onStall }) {
  const { createGateway } = await importBuilt('index.js');
  const sources = (interTokenTimeoutS) => ['a', 'b'].map((provider, priority) => ({ provider, priority, baseUrl, model: 'mock', ttftTimeoutS: 120, interTokenTimeoutS, timeoutS: 600 }));
  const watched = createGateway({ settings: { scope: 'watched', sources: sources(silentMs / 1000), maxAttempts: 1 } });
  const hedged = createGateway({ settings: { scope: 'hedged', sources: sources(120), hedgeStallAfterS: silentMs / 1000 } });
  watched.events$.subscribe((event) => event.type === 'attempt-ended' && event.record.outcome === 'error' && onStall(`watchdog ${event.callId}`));
  hedged.events$.subscribe((event) => event.type === 'silence-noticed' && onStall(`hedge ${event.callId}`));
  return {
    open: (number) =>
      number % 2 === 0
        ? watched.stream$({ messages }).subscribe({ next: ({ type }) => type === 'content' && onDelta(), error: () => undefined })
        : hedged.chat$({ messages }).subscribe({ error: () => undefined }),
    counts: () => [watched, hedged].flatMap((gateway) => gateway.stats().streams.map(({ increments }) => increments)),
  };
}
