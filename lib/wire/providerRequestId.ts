import { headerText } from './headerText.js';
import type { Headers } from './headerText.js';

const names = ['x-request-id', 'request-id', 'x-oneapi-request-id', 'apim-request-id', 'x-ms-request-id', 'x-amzn-requestid', 'cf-ray'];

/** The id under which the provider, or the edge before it, knows the request; header names in lower case. */
export function providerRequestId(headers: Headers): string | undefined {
  const id = names.map((name) => headerText(headers, name)).find((text) => text !== undefined && text !== '');
  return id?.slice(0, 200);
}
