// A gateway of a fleet, on the built package, or on another build of it that POLYGATEWAY_DIST names.
import { pathToFileURL } from 'node:url';

const dist = process.env.POLYGATEWAY_DIST === undefined ? new URL('../../../dist/', import.meta.url) : pathToFileURL(`${process.env.POLYGATEWAY_DIST}/`);
const built = (path) => import(new URL(path, dist));
const [{ createGateway }, { createRedisGovernance }, { parseRedisUrl }, { monotonicScheduler }] = await Promise.all([
  built('index.js'),
  built('governance/redis/redisGovernance.js'),
  built('model/redisTarget.js'),
  built('clock/monotonicScheduler.js'),
]);

/** Over the backend of the settings; with `windowMs`, over one whose minute is so long. */
export function openGateway({ url, redisUrl, scope, limits, windowMs, leaseTtlS = 15, ...settings }) {
  const sources = [{ provider: 'a', baseUrl: `${url}/v1`, model: 'm', ...limits }];
  if (windowMs === undefined) return createGateway({ settings: { scope, sources, backendUrl: redisUrl, backendLeaseTtlS: leaseTtlS, ...settings } });
  const shared = { target: parseRedisUrl(redisUrl), scope, leaseTtlMs: leaseTtlS * 1000, scheduler: monotonicScheduler, windowMs };
  return createGateway({ settings: { scope, sources, ...settings }, backend: (governed) => createRedisGovernance(governed, shared) });
}
