import { tap } from 'rxjs';
import { createGateway } from '../../assemble/createGateway.js';
import type { Gateway } from '../../assemble/createGateway.js';
import { monotonicScheduler } from '../../clock/monotonicScheduler.js';
import { startUpstream } from '../../lab/upstream/upstream.js';
import type { Upstream } from '../../lab/upstream/upstream.js';
import { isOutput } from '../../model/delta.js';
import type { ChatDelta } from '../../model/delta.js';
import type { Source } from '../../model/source.js';
import { createHttpClient } from '../../sources/httpBytes.js';
import { createHttpSource } from '../../sources/httpSource.js';
import type { PlannedCall } from './demoPlan.js';

export interface RigOptions {
  readonly plan: readonly PlannedCall[];
  readonly stallThresholdMs: number;
  readonly hedgeStallAfterS: number;
  readonly telemetryUrl: string | undefined;
  readonly onIncrement: (this: void, attemptId: string, atMs: number) => void;
}

/** Two simulated sources and a gateway between them and us. */
export interface DemoRig {
  readonly gateway: Gateway;
  /** Chat requests that both sources have seen. */
  requests(this: void): number;
  /** Writes the rows, closes gateway and sources. */
  close(this: void): Promise<void>;
}

const sourceBasics = { model: 'sim', connectTimeoutMs: 5000, timeoutMs: 30_000, scheduler: monotonicScheduler };

export const primaryName = 'flaky';
export const backupName = 'steady';

/** Starts the sources and the gateway. */
export async function openRig({ plan, ...options }: RigOptions): Promise<DemoRig> {
  const flaky = await startUpstream({ scripts: plan.map(({ primary }) => primary), model: 'sim' });
  const steady = await startUpstream({ scripts: plan.map(({ backup }) => backup), model: 'sim' });
  try {
    return connect({ flaky, steady, ...options });
  } catch (error: unknown) {
    await Promise.all([flaky.close(), steady.close()]);
    throw error;
  }
}

interface ConnectOptions extends Omit<RigOptions, 'plan'> {
  readonly flaky: Upstream;
  readonly steady: Upstream;
}

/** Everything but the wrapped sources is what any application does. */
function connect({ flaky, steady, stallThresholdMs, hedgeStallAfterS, telemetryUrl, onIncrement }: ConnectOptions): DemoRig {
  const client = createHttpClient({ scheduler: monotonicScheduler });
  const source = (provider: string, baseUrl: string): Source =>
    watched(createHttpSource({ ...sourceBasics, id: `${provider}/1`, provider, baseUrl, client }), onIncrement);

  const gateway = createGateway({
    settings: { scope: 'DEMO', sources: [], stallThresholdMs, hedgeStallAfterS, ...(telemetryUrl === undefined ? {} : { telemetryUrl }) },
    sources: [source(primaryName, flaky.url), source(backupName, steady.url)],
  });

  return {
    gateway,
    requests: () => flaky.requests.length + steady.requests.length,
    async close() {
      await gateway.close();
      await client.close();
      await Promise.all([flaky.close(), steady.close()]);
    },
  };
}

/** The same source, with its increments told as they come. */
function watched(source: Source, onIncrement: RigOptions['onIncrement']): Source {
  const stream: Source['stream'] = (request, context) => {
    const tell = (delta: ChatDelta): void => {
      if (isOutput(delta) && delta.sameFrame !== true) onIncrement(context.attemptId, monotonicScheduler.now());
    };
    return source.stream(request, context).pipe(tap({ next: tell }));
  };
  return { ...source, stream };
}
