import type { FastifyInstance } from 'fastify';
import { pathOf } from './pathOf.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Answers what no route is for: 405 where the path has other methods, else 404, which names the paths there are. To be called before the routes. */
export function answerUnknown(app: FastifyInstance): void {
  const routes: Route[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, path: url });
  });
  app.setNotFoundHandler(({ method, url }, reply) => refuse(reply, refusalOf({ method, path: pathOf(url) }, routes)));
}

function refusalOf({ method, path }: Route, routes: readonly Route[]): Refusal {
  const allowed = routes.filter((route) => matches(route.path, path)).map((route) => route.method);
  if (allowed.length === 0) {
    const known = routes.filter((route) => route.method !== 'HEAD').map((route) => `${route.method} ${route.path}`);
    return { status: 404, code: 'unknown_url', message: `there is no ${path.slice(0, 200)} here; there are ${known.join(', ')}` };
  }
  const allow = allowed.join(', ');
  return { status: 405, code: 'method_not_allowed', message: `${path.slice(0, 200)} takes ${allow}, not ${method}`, headers: { allow } };
}

/** A route may end in a `*`. */
function matches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) && path.length >= pattern.length : path === pattern;
}
