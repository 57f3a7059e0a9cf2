import type { ResolvedSettings } from '../../config/settings.js';
import { findPeer, missingPeer, peers } from '../../model/loadPeer.js';
import type { Peer } from '../../model/loadPeer.js';
import { parseTelemetryUrl } from '../../telemetry/telemetryUrl.js';

/** A problem for each package that the settings ask for and that is not installed: with it a gateway would be refused too. */
export function missingPeers(settings: ResolvedSettings): readonly string[] {
  return neededPeers(settings).filter(({ name }) => findPeer(name) === undefined).map(missingPeer);
}

function neededPeers({ telemetryUrl, backendUrl }: ResolvedSettings): readonly Peer[] {
  return [...(backendUrl === undefined ? [] : [peers.redis]), ...(telemetryUrl === undefined ? [] : [peers[parseTelemetryUrl(telemetryUrl).type]])];
}
