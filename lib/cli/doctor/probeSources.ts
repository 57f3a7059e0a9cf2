import { performance } from 'node:perf_hooks';
import { createGateway } from '../../assemble/createGateway.js';
import type { GatewaySettings, SourceSettings } from '../../config/settings.js';
import { isGatewayError, messageOf } from '../../model/errors.js';
import { maskSecrets } from '../../model/mask.js';

/** What became of the question that a source was asked. */
export type Probe = { readonly source: string; readonly ms: number } & (
  | { readonly ok: true; readonly model: string }
  | { readonly ok: false; readonly code: string; readonly message: string }
);

export interface ProbeOptions {
  readonly settings: GatewaySettings;
  /** Of the sources, in their order. */
  readonly ids: readonly string[];
  readonly timeoutS: number;
  readonly signal: AbortSignal;
  /** Called when one more source has answered or failed. */
  readonly onProbe?: () => void;
}

/** Asks every source at once, each through a gateway of its own that has no other, tries once and writes no row. */
export function probeSources({ settings, ids, timeoutS, signal, onProbe }: ProbeOptions): Promise<Probe[]> {
  const asked = settings.sources.map((source, at) => probe({ settings: alone(settings, source, timeoutS), source: ids[at] ?? source.provider, signal }).finally(onProbe));
  return Promise.all(asked);
}

function alone({ scope, stallWindowS }: GatewaySettings, source: SourceSettings, timeoutS: number): GatewaySettings {
  const window = stallWindowS === undefined ? {} : { stallWindowS };
  return { scope, sources: [source], maxAttempts: 1, backpressure: 'fail_fast', callDeadlineS: timeoutS, ...window };
}

async function probe({ settings, source, signal }: { settings: GatewaySettings; source: string; signal: AbortSignal }): Promise<Probe> {
  const gateway = createGateway({ settings });
  const startMs = performance.now();
  const ms = (): number => Math.trunc(performance.now() - startMs);
  try {
    // No limit of tokens: a reasoning model would spend it before its first word, and some models refuse the field.
    const { model } = await gateway.chat({ messages: [{ role: 'user', content: 'Say only OK.' }] }, { signal });
    return { source, ok: true, ms: ms(), model };
  } catch (error: unknown) {
    signal.throwIfAborted();
    return { source, ok: false, ms: ms(), ...reasonOf(error, settings) };
  } finally {
    await gateway.close();
  }
}

/** What the source itself said: that the call gave up after its only try is no news here. */
function reasonOf(error: unknown, { sources }: GatewaySettings): { code: string; message: string } {
  const said = isGatewayError(error) && error.code === 'all_sources_exhausted' && isGatewayError(error.cause) ? error.cause : error;
  const keys = sources.flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey]));
  return { code: isGatewayError(said) ? said.code : 'unexpected', message: maskSecrets(messageOf(said), keys) };
}
