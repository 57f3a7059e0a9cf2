import { limitsOf, secondsToMs } from '../config/limitsOf.js';
import { composeEmbedding } from '../gateway/composeEmbedding.js';
import type { EmbeddingEngine } from '../gateway/composeEmbedding.js';
import type { EmbeddingSource } from '../model/source.js';
import { createHttpEmbeddingSource } from '../sources/embeddingSource.js';
import { openScope } from './openScope.js';
import type { RunningScope, ScopeOptions } from './scope.js';

/** Settings, any of their fields again, and ports: what `createEmbedding` is given. */
export type EmbeddingOptions = ScopeOptions<EmbeddingSource>;

/** A running gateway for embeddings; `close()` it when the program ends, or hold it with `await using`. */
export interface Embedding extends Omit<EmbeddingEngine, 'close'>, RunningScope {}

/**
 * Makes a running gateway for embeddings, with the same governance as chat; hedging keys are ignored (C6). The sources of
 * one scope must serve one model, since vectors of different models cannot be compared.
 *
 * Throws `ConfigError` with everything that is wrong at once (C rules).
 *
 *     const embedding = createEmbedding({ settings: settingsFromEnv('EMBEDDING') });
 *     const { vectors } = await embedding.embed({ input: ['one', 'two'] });
 *     await embedding.close();
 */
export function createEmbedding(options: EmbeddingOptions): Embedding {
  return openScope(options, {
    serves: 'embedding',
    openSource: ({ connectTimeoutS, ...source }, shared) =>
      createHttpEmbeddingSource({ ...source, ...limitsOf({ ...source, connectTimeoutS }), connectTimeoutMs: secondsToMs(connectTimeoutS), ...shared }),
    compose: composeEmbedding,
  });
}
