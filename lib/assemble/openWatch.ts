import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import type { ResolvedSettings } from '../config/settings.js';
import type { Policy } from '../gateway/ports.js';
import type { AudienceOptions } from '../telemetry/watch/audience.js';
import { watchProtocol } from '../telemetry/watch/watchMessage.js';
import type { WatchHello } from '../telemetry/watch/watchMessage.js';
import { openWatchSocket } from '../telemetry/watch/watchSocket.js';
import type { WatchSocket, WatchSocketOptions } from '../telemetry/watch/watchSocket.js';

export interface WatchOptions extends Omit<AudienceOptions, 'hello'>, Pick<WatchSocketOptions, 'report'> {
  readonly settings: ResolvedSettings;
  readonly policy: Policy;
  readonly sources: readonly { readonly id: string; readonly model: string; readonly maxConcurrency?: number }[];
}

/** Lets the scope be watched, if its settings say so. */
export function openWatch({ settings, policy, sources, now, ...of }: WatchOptions): WatchSocket | undefined {
  const { telemetryWatch: place, scope } = settings;
  if (place === undefined) return undefined;
  const startedAt = new Date().toISOString();
  const { stallThresholdMs, hedgeAfterMs, hedgeStallAfterMs } = policy;
  const version = ownVersion();
  const hello = (): WatchHello => ({
    type: 'hello',
    protocol: watchProtocol,
    version,
    scope,
    pid: process.pid,
    host: hostname(),
    startedAt,
    sentAt: new Date().toISOString(),
    atMs: now(),
    thresholds: { stallThresholdMs, hedgeAfterMs, hedgeStallAfterMs },
    sources: sources.map(({ id, model, maxConcurrency = null }) => ({ id, model, maxConcurrency })),
  });
  return openWatchSocket({ place, scope, hello, now, ...of });
}

/** Not known where the package was bundled into another one. */
function ownVersion(): string {
  try {
    const { name, version } = createRequire(import.meta.url)('../../package.json') as { name?: string; version?: string };
    return name === 'polygateway' && version !== undefined ? version : 'of unknown version';
  } catch {
    return 'of unknown version';
  }
}
