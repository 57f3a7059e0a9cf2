import { maskKnown } from '../model/mask.js';
import { headerText } from './headerText.js';
import type { Headers } from './headerText.js';

const names = ['x-request-id', 'request-id', 'x-oneapi-request-id', 'apim-request-id', 'x-ms-request-id', 'x-amzn-requestid', 'cf-ray'];

/** The id under which the provider, or the edge before it, knows the request; header names in lower case. Keys that are known stay out of it. */
export function providerRequestId(headers: Headers, secrets: readonly string[] = []): string | undefined {
  const id = names.map((name) => headerText(headers, name)).find((text) => text !== undefined && text !== '');
  return id === undefined ? undefined : shownRequestId(id, secrets);
}

/** Cut after keys are out of it: half a key is not seen as one. Nothing else is taken for a key, since ids look like keys. */
export function shownRequestId(id: string, secrets: readonly string[]): string {
  return maskKnown(id, secrets).slice(0, 200);
}
