import { expect } from '@jest/globals';
import { createEmbedding } from '../../../lib/index.js';
import type { Gateway } from '../../../lib/index.js';
import { createClientKeys, sha256 } from '../../../lib/server/clientKeys.js';
import type { JsonServer } from '../../support/jsonServer.js';
import { closeAfterTest, frontDoorTo } from '../frontDoorScene.js';
import { keyOfSource, modelOfSource } from './provider.js';
import type { Asked } from './provider.js';

export const clientKey = 'client-key-0123456789abcdef';
/** What the clients ask for; no source has a model of that name. */
export const modelAsked = 'gpt-4o';

/** Both ways to deliver a stream, as a client chooses between them. */
export const deliveries = ['commit', 'buffered'] as const;
export const deliverBy = (delivery: (typeof deliveries)[number]): Record<string, string> => ({ 'x-polygateway-delivery': delivery });

export interface ClientDoor {
  readonly baseURL: string;
  readonly gateway: Gateway;
}

interface Places {
  /** Base URLs of the sources for chat, in the order in which they are asked. */
  readonly chat: readonly string[];
  readonly embedding?: string;
  readonly keepaliveS?: number;
}

/** A front door that asks for a key, and listens until the test ends. */
export async function doorTo({ chat, embedding, ...rest }: Places): Promise<ClientDoor> {
  const sources = chat.map((baseUrl, priority) => ({ baseUrl, priority, model: modelOfSource, apiKey: keyOfSource }));
  const { url, gateway } = await frontDoorTo(sources, {
    gateway: { maxAttempts: 2 },
    door: {
      models: [modelOfSource],
      keys: createClientKeys([sha256(clientKey)]),
      ...(embedding === undefined ? {} : { embedding: embeddingAt(embedding) }),
      ...rest,
    },
  });
  return { baseURL: `${url}/v1`, gateway };
}

function embeddingAt(baseUrl: string): ReturnType<typeof createEmbedding> {
  const embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [{ provider: 'e', baseUrl, model: modelOfSource, apiKey: keyOfSource }] } });
  closeAfterTest(embedding.close);
  return embedding;
}

export const atOf = ({ origin }: JsonServer): string => `${origin}/v1`;

/** What a provider was asked, in order: with the source's key and model, and nothing of the client's. */
export function sentTo({ requests }: JsonServer): Asked[] {
  for (const { headers, body } of requests) {
    expect([headers.authorization, body['model']]).toEqual([`Bearer ${keyOfSource}`, modelOfSource]);
    expect(JSON.stringify([headers, body])).not.toMatch(new RegExp(`${clientKey}|${modelAsked}`));
  }
  return requests.map(({ body }) => body);
}
