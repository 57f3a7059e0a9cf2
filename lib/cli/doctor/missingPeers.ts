import type { ResolvedSettings } from '../../config/settings.js';
import { findPeer, missingPeer } from '../../model/loadPeer.js';
import type { Peer } from '../../model/loadPeer.js';
import { parseTelemetryUrl } from '../../telemetry/telemetryUrl.js';

/** A problem for each package that the settings ask for and that is not installed: with it a gateway would be refused too. */
export function missingPeers(settings: ResolvedSettings): readonly string[] {
  return neededPeers(settings).filter(({ name }) => findPeer(name) === undefined).map(missingPeer);
}

function neededPeers({ telemetryUrl, backendUrl }: ResolvedSettings): readonly Peer[] {
  return [
    ...(backendUrl === undefined ? [] : [{ name: 'ioredis', neededBy: 'backendUrl: state in Redis' } as const]),
    ...(telemetryUrl === undefined ? [] : [telemetryPeer(telemetryUrl)]),
  ];
}

function telemetryPeer(telemetryUrl: string): Peer {
  const { type } = parseTelemetryUrl(telemetryUrl);
  return type === 'sqlite' ? { name: 'better-sqlite3', neededBy: 'telemetryUrl: a SQLite database' } : { name: 'pg', neededBy: 'telemetryUrl: a Postgres database' };
}
