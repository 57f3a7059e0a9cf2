import { fileURLToPath } from 'node:url';
import { startService } from '../../support/child.mjs';
import { importBuilt } from '../../support/places.mjs';

const { createGateway } = await importBuilt('index.js');
const upstream = fileURLToPath(new URL('upstream.mjs', import.meta.url));

/** A gateway for a scene whose upstreams are processes of their own. */
export async function openGateway({ sources, limits, settings = {} }, backendUrl) {
  const upstreams = await Promise.all(sources.map((scripts) => startService(upstream, scripts)));
  const gateway = createGateway({
    settings: {
      scope: 'LLM', ...settings, ...(backendUrl !== 'memory' && { backendUrl }),
      sources: upstreams.map(({ url }, priority) => ({ provider: 'sim', baseUrl: url, model: 'sim', priority, ...limits })),
    },
  });
  return {
    gateway,
    async close() {
      await gateway.close();
      for (const { stop } of upstreams) stop();
    },
  };
}

/**
 * So many calls, as many at once: how long each took, in ms, and how many came to nothing since Redis gave no decision within its limit, as
 * happens where the processor is not to be had. A call that was not what the scene says is a failure.
 */
export async function makeCalls({ gateway }, { was, atOnce }, calls, { before = () => undefined, after = () => undefined } = {}) {
  const tookMs = [];
  let undecided = 0;
  let left = calls;
  const caller = async () => {
    while (left-- > 0) {
      const startMs = performance.now();
      await before();
      const answer = await gateway.chat({ messages: [{ role: 'user', content: 'hello' }] }).catch(forgiven);
      after();
      tookMs.push(performance.now() - startMs);
      if (answer === undefined) undecided += 1;
      else check(answer, was);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return { tookMs, undecided };
}

function forgiven(error) {
  if (error.code !== 'governance_backend') throw error;
}

function check({ content, stats: { attempts, hedges } }, was) {
  if (content === 'ok' && attempts === was.attempts && hedges === was.hedges) return;
  throw new Error(`A call came to '${content}' after ${attempts} attempts and ${hedges} hedges, not to 'ok' after ${was.attempts} and ${was.hedges}.`);
}
