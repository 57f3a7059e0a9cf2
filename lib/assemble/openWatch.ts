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
  readonly sources: readonly { readonly id: string; readonly model: string }[];
}

/** Lets the scope be watched, if its settings say so. */
export function openWatch({ settings, policy, sources, now, ...of }: WatchOptions): WatchSocket | undefined {
  const { telemetryWatch: place, scope } = settings;
  if (place === undefined) return undefined;
  const startedAt = new Date().toISOString();
  const { stallThresholdMs, hedgeAfterMs, hedgeStallAfterMs } = policy;
  const limitOf = (id: string): number | null => settings.sources.find((source) => source.id === id)?.maxConcurrency ?? null;
  const hello = (): WatchHello => ({
    type: 'hello',
    protocol: watchProtocol,
    version: ownVersion(),
    scope,
    pid: process.pid,
    host: hostname(),
    startedAt,
    sentAt: new Date().toISOString(),
    atMs: now(),
    thresholds: { stallThresholdMs, hedgeAfterMs, hedgeStallAfterMs },
    sources: sources.map(({ id, model }) => ({ id, model, maxConcurrency: limitOf(id) })),
  });
  return openWatchSocket({ place, scope, hello, now, ...of });
}

function ownVersion(): string {
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
  return version;
}
