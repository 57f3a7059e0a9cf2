import { RequestError } from '../model/errors.js';
import { asRecord } from '../wire/jsonFields.js';
import type { JsonRecord } from '../wire/jsonFields.js';

/**
 * What of a request's body travels on. The model that the client names does not: each source has its own, and the answer says
 * which it came from. Throws `RequestError`.
 */
export function requestFields(body: unknown): JsonRecord {
  const all = asRecord(body);
  if (all === undefined) throw wrongField('the body', 'must be a JSON object');
  const { model, tags, ...fields } = all;
  if (model !== undefined && model !== null && typeof model !== 'string') throw wrongField('model', 'must be a text');
  return isTags(tags) ? { ...fields, tags } : fields;
}

export function wrongField(field: string, problem: string): RequestError {
  return new RequestError(`the request was not sent: ${field}: ${problem}`);
}

const maxTags = 16;
const maxTagChars = 512;

/** Tags go into the rows of this server, and are no field of OpenAI's: what else is called so is left out. */
function isTags(value: unknown): value is Record<string, string> {
  const entries = Object.entries(asRecord(value) ?? {});
  return entries.length > 0 && entries.length <= maxTags && entries.flat().every((text) => typeof text === 'string' && text.length <= maxTagChars);
}
