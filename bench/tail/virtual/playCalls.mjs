import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { openWorkload } from '../workload.mjs';

const chunk = fileURLToPath(new URL('chunk.mjs', import.meta.url));

/** The outcome of each call of the workload under a contestant's closed form. */
export function byRule({ rule }, { sources, ...workload }, count) {
  const { next } = openWorkload({ ...workload, sources });
  return Array.from({ length: count }, () => ({ failed: false, ...rule(next(), sources) }));
}

/** The same by the gateway itself, the calls shared out among `processes`. */
export async function byGateway({ settings, interTokenTimeoutMs }, { sources, seed }, count, processes) {
  const share = Math.ceil(count / processes);
  const shares = Array.from({ length: processes }, (_, nth) => ({ fromId: nth * share, count: Math.min(share, count - nth * share) }));
  const outcomes = await Promise.all(
    shares.filter((part) => part.count > 0).map((part) => measureIn(chunk, [JSON.stringify({ ...part, seed, sources, settings, interTokenTimeoutMs })], { timeoutMs: 120_000 + part.count * 200 })),
  );
  return outcomes.flat();
}

/** Calls of which the gateway did not do to the millisecond what its rule says. */
export function differing(played, ruled) {
  return played.filter((outcome, id) => !accords(outcome, ruled[id])).length;
}

function accords({ ms, requests, tokens, failed }, rule) {
  return ms === rule.ms && requests === rule.requests && failed === rule.failed && tokens <= rule.tokens && tokens >= rule.tokens - rule.tiedTokens;
}
