import { createGateway } from '../../lib/assemble/createGateway.js';
import { createFrontDoor } from '../../lib/server/frontDoor.js';
import { freePort } from '../support/freePort.js';
import { limitS, hedgeS } from './faultTable.js';
import type { Delivery, Fault, Got } from './faultTable.js';
import { askChat } from './faultCaller.js';
import { healthy, secondMs, startProvider } from './faultyProvider.js';
import type { Provider } from './faultyProvider.js';

/** What came of a fault. */
export interface Run {
  readonly got: readonly Got[];
  /** Until the last caller had what it got, in seconds of the limits. */
  readonly s: number;
  readonly requests: readonly [a: number, b: number];
  /** Calls, attempts and permits that the gateway still holds. */
  readonly held: number;
}

/** A front door over a provider with a fault and a healthy one, ready to be asked. */
export interface Scene {
  run(this: void): Promise<Run>;
  close(this: void): Promise<void>;
}

const s = (seconds: number): number => (seconds * secondMs) / 1000;

export async function openScene({ play, callers = 1, leaves = false }: Fault, delivery: Delivery): Promise<Scene> {
  const a = play === undefined ? undefined : await startProvider(play, { callers });
  const b = await startProvider(() => healthy);
  const gateway = openGateway({ a: a?.origin ?? `http://127.0.0.1:${await freePort()}`, b: b.origin });
  const door = createFrontDoor({ chat: gateway, models: ['m'], keepaliveS: s(15) });
  const { url } = await door.listen({ host: '127.0.0.1', port: 0 });

  return {
    async run() {
      const startMs = performance.now();
      const ask = (): Promise<Got> => (leaves && a !== undefined ? askAndLeave(url, delivery, a) : askChat(url, delivery).catch((error: unknown) => ({ type: 'wrong', what: String(error) })));
      const got = await Promise.all(Array.from({ length: callers }, ask));
      const { calls, attempts, permits } = gateway.stats();
      return {
        got,
        s: (performance.now() - startMs) / secondMs,
        requests: [a?.requests.length ?? 0, b.requests.length],
        held: calls + attempts + Object.values(permits).reduce((sum, count) => sum + count, 0),
      };
    },
    async close() {
      await door.drain(0);
      await gateway.close();
      await Promise.all([a?.close(), b.close()]);
    },
  };
}

/** Limits and waits are the usual ones, but for their scale. */
function openGateway(origins: Readonly<Record<'a' | 'b', string>>): ReturnType<typeof createGateway> {
  const limits = { timeoutS: s(300), ttftTimeoutS: s(limitS), interTokenTimeoutS: s(limitS) };
  return createGateway({
    settings: {
      scope: 'LLM',
      sources: (['a', 'b'] as const).map((provider, priority) => ({ provider, baseUrl: `${origins[provider]}/v1`, model: 'm', apiKey: 'k', priority, ...limits })),
      hedgeAfterS: s(hedgeS),
      hedgeStallAfterS: s(hedgeS),
      backoffS: s(0.5),
      backoffMaxS: s(30),
      stallWindowS: s(300),
      pollS: s(0.5),
    },
  });
}

/** A caller that goes once text has come, as far as it is shown any. */
async function askAndLeave(url: string, delivery: Delivery, provider: Provider): Promise<Got> {
  const leaving = new AbortController();
  const shown = new Promise<void>((resolve) => {
    askChat(url, delivery, { signal: leaving.signal, onText: resolve }).catch(() => undefined);
  });
  await (delivery === 'commit' ? shown : provider.spoke);
  leaving.abort();
  await provider.left;
  return { type: 'left' };
}
