import type { FastifyInstance } from 'fastify';
import { refuse } from './refusal.js';

/** `GET /v1/models` and `GET /v1/models/<id>`, whose ids may hold slashes. */
export function registerModels(app: FastifyInstance, { models }: { readonly models: readonly string[] }): void {
  const known = new Map([...new Set(models)].map((id) => [id, modelOf(id)]));
  app.get('/v1/models', () => ({ object: 'list', data: [...known.values()] }));
  app.get<{ Params: { '*': string } }>('/v1/models/*', ({ params }, reply) => {
    const id = params['*'];
    return known.get(id) ?? refuse(reply, { status: 404, code: 'model_not_found', message: `there is no model ${id.slice(0, 200)} here; GET /v1/models lists those there are` });
  });
}

function modelOf(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'polygateway' };
}
