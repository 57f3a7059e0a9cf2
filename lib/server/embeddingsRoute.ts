import { endianness } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { EmbeddingRequest, EmbeddingResponse } from '../model/embedding.js';
import { factsOfEmbedding } from './factHeaders.js';
import type { EmbeddingDoor } from './frontDoorOptions.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';
import { requestFields } from './requestFields.js';
import { usageBody } from '../wire/usageBody.js';
import { sendWhole } from './wholeAnswer.js';

const notServed: Refusal = {
  status: 404,
  code: 'embeddings_not_served',
  message: 'this server has no sources for embeddings: set EMBEDDING__<PROVIDER>__1__BASE_URL, EMBEDDING__<PROVIDER>__1__MODEL and, where the provider wants one, EMBEDDING__<PROVIDER>__1__API_KEY',
};

/** `POST /v1/embeddings`. */
export function registerEmbeddings(app: FastifyInstance, { embedding }: { readonly embedding?: EmbeddingDoor | undefined }): void {
  app.post('/v1/embeddings', (request, reply) => {
    if (embedding === undefined) {
      refuse(reply, notServed);
      return;
    }
    const fields = requestFields(request.body);
    const isBase64 = fields['encoding_format'] === 'base64';
    // Clients ask for it unasked, not every source knows it, and it is we who write the answer.
    if (isBase64) delete fields['encoding_format'];
    sendWhole(reply, {
      // What the fields hold is checked by the gateway.
      response$: embedding.embed$(fields as unknown as EmbeddingRequest),
      factsOf: factsOfEmbedding,
      bodyOf: (response) => embeddingList(response, isBase64 ? base64Of : Array.from<number>),
    });
  });
}

function embeddingList({ vectors, model, usage }: EmbeddingResponse, write: (vector: Float32Array) => string | number[]): object {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: write(vector) })),
    model,
    ...(usage === null ? {} : { usage: usageBody(usage) }),
  };
}

/** Floats of 32 bits, little end first, whatever this machine has. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}
