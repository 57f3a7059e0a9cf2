import { expect } from '@jest/globals';
import { gatewayMatchers } from './assertions/gatewayMatchers.js';
import type { GatewayMatchers } from './assertions/gatewayMatchers.js';

/* eslint-disable @typescript-eslint/no-empty-object-type, @typescript-eslint/no-namespace -- this is how an interface of another package is extended */

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends GatewayMatchers<R, T> {}
}

declare global {
  // The global `expect` of @types/jest; where it is not installed, a namespace that nobody sees.
  namespace jest {
    interface Matchers<R, T = {}> extends GatewayMatchers<R, T> {}
  }
}

expect.extend(gatewayMatchers);
