// `AsyncDisposable` for users whose TypeScript knows neither it nor the types of Node.
/// <reference lib="esnext.disposable" preserve="true" />
import { limitsOf, secondsToMs } from '../config/limitsOf.js';
import { composeGateway } from '../gateway/composeGateway.js';
import type { Engine } from '../gateway/composeGateway.js';
import type { Source } from '../model/source.js';
import { createHttpSource } from '../sources/httpSource.js';
import { openScope } from './openScope.js';
import type { RunningScope, ScopeOptions } from './scope.js';

/** Settings, any of their fields again, and ports: what `createGateway` is given. */
export type GatewayOptions = ScopeOptions<Source>;

/** A running gateway for chat; `close()` it when the program ends, or hold it with `await using`. */
export interface Gateway extends Omit<Engine, 'close'>, RunningScope {}

/**
 * Makes a running gateway from settings. Connects to no source before the first call; to Redis and Postgres, where settings name
 * them, at once.
 *
 * Throws `ConfigError` with everything that is wrong at once (C rules).
 *
 *     const gateway = createGateway({ settings: settingsFromEnv('LLM'), hedgeStallAfterS: 20 });
 *     const { content, stats } = await gateway.chat({ messages });
 *     await gateway.close();
 */
export function createGateway(options: GatewayOptions): Gateway {
  return openScope(options, {
    serves: 'chat',
    openSource: ({ connectTimeoutS, ...source }, shared) =>
      createHttpSource({ ...source, ...limitsOf({ ...source, connectTimeoutS }), connectTimeoutMs: secondsToMs(connectTimeoutS), ...shared }),
    compose: composeGateway,
  });
}
