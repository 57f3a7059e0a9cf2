import { expect } from 'vitest';
import { gatewayMatchers } from './assertions/gatewayMatchers.js';
import type { GatewayMatchers } from './assertions/gatewayMatchers.js';

declare module 'vitest' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-explicit-any -- this is how an interface of another package is extended, and its parameters have to be the same
  interface Assertion<T = any> extends GatewayMatchers<void, T> {}
}

expect.extend(gatewayMatchers);
