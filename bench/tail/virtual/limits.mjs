/** The product's defaults, of which both the gateway and its rule in closed form are made. */
export const limits = { timeoutMs: 300_000, ttftTimeoutMs: 120_000, interTokenTimeoutMs: 300_000 };
export const retry = { maxAttempts: 3, backoffMs: 500 };
