import type { EmbeddingAnswer } from '../model/embedding.js';
import { SourceError, TransientError } from '../model/errors.js';
import { chatUsage } from './chatUsage.js';
import { asList, asRecord, asText } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

export interface AskedEmbedding {
  readonly inputs: number;
  /** The length of the vectors that was asked for. */
  readonly dimensions?: number | null | undefined;
  readonly requestId?: string | undefined;
}

/** The vectors of a document in the order of the inputs; throws where they cannot be told apart, or are damaged. */
export function embeddingAnswer(document: JsonRecord, { inputs, dimensions, requestId }: AskedEmbedding): EmbeddingAnswer {
  if (!Array.isArray(document['data'])) throw new TransientError('there is no embedding in the body');
  const items = asList(document['data']).map((item) => asRecord(item) ?? {});
  if (items.length !== inputs) throw new TransientError(`there are ${items.length} embeddings in the answer to ${inputs} inputs`);
  const vectors = inOrder(items).map(({ embedding }) => vectorOf(embedding));
  const length = vectors[0]?.length ?? 0;
  const odd = vectors.find((vector) => vector.length !== length);
  if (odd !== undefined) throw new TransientError(`the vectors of one answer have ${length} and ${odd.length} numbers`);
  if (typeof dimensions === 'number' && length !== dimensions) throw new SourceError(`the vectors have ${length} numbers, but ${dimensions} were asked for`);
  const usage = asRecord(document['usage']);
  const model = asText(document['model']);
  return {
    vectors,
    usage: usage === undefined ? null : chatUsage(usage, null),
    ...(model === '' ? {} : { model }),
    ...(requestId === undefined ? {} : { providerRequestId: requestId }),
  };
}

/** By index where the provider says them; where it says none, as they came. */
function inOrder(items: readonly JsonRecord[]): readonly JsonRecord[] {
  const indexes = items.map(({ index }) => index);
  if (indexes.every((index) => index === undefined || index === null)) return items;
  const ordered = items.map((_, at) => items[indexes.indexOf(at)]);
  if (ordered.includes(undefined)) throw new SourceError(`the indexes of the embeddings are no order: ${JSON.stringify(indexes).slice(0, 100)}`);
  return ordered.filter((item) => item !== undefined);
}

const bytesOfFloat = 4;
const base64 = /^([A-Za-z0-9+/]*)={0,2}$/;

function vectorOf(embedding: unknown): Float32Array {
  const vector = typeof embedding === 'string' ? fromBase64(embedding) : fromNumbers(embedding);
  if (vector.length === 0) throw new TransientError('an embedding is empty');
  if (!vector.every(Number.isFinite)) throw new TransientError('an embedding holds something that is no finite number');
  return vector;
}

function fromNumbers(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding)) throw new TransientError('an embedding is neither a list of numbers nor base64');
  const values = asList(embedding);
  // What is no number becomes one that is not finite; `Number` would make a 0 of null.
  return filled(values.length, (at) => {
    const value = values[at];
    return typeof value === 'number' ? value : NaN;
  });
}

/** Little-endian, whatever this machine is. */
function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what it cannot decode, so every digit has to be accounted for.
  const isWhole = base64.exec(text)?.[1]?.length === Math.ceil((bytes.length * 4) / 3);
  if (!isWhole || bytes.length % bytesOfFloat !== 0) throw new TransientError('an embedding is no base64 of whole numbers');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return filled(bytes.length / bytesOfFloat, (at) => view.getFloat32(at * bytesOfFloat, true));
}

/** Many times faster than `Float32Array.from`; a batch holds some hundred thousand numbers, and other streams wait meanwhile. */
function filled(length: number, valueAt: (at: number) => number): Float32Array {
  const vector = new Float32Array(length);
  for (let at = 0; at < length; at += 1) vector[at] = valueAt(at);
  return vector;
}
