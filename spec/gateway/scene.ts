import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway } from '../../lib/index.js';
import type { AttemptRow, ChatRequest, Gateway, GatewayEvent, GatewayOptions, SourceSettings } from '../../lib/index.js';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream, UpstreamOptions } from '../../lib/lab/upstream/upstream.js';

/** A running gateway and all that it told. */
export interface Scene {
  readonly gateway: Gateway;
  /** In the order in which they were handed over. */
  readonly rows: AttemptRow[];
  readonly events: GatewayEvent[];
}

type Place = string | (Partial<SourceSettings> & { readonly baseUrl: string });

const toClose: (() => unknown)[] = [];

/** Closes what a test has opened, last first. */
export async function closeAll(): Promise<void> {
  for (const close of toClose.splice(0).reverse()) await close();
}

export function closeAfterTest(close: () => unknown): void {
  toClose.push(close);
}

/** A simulated upstream in this process. */
export async function upstream(scripts: UpstreamOptions['scripts'], options: Omit<UpstreamOptions, 'scripts'> = {}): Promise<Upstream> {
  const started = await startUpstream({ scripts, ...options });
  closeAfterTest(started.close);
  return started;
}

/** A gateway to these places, named `a/1`, `b/1` … in their order. No jitter, short backoff. */
export function gatewayTo(places: readonly Place[], options: Partial<GatewayOptions> = {}): Scene {
  const rows: AttemptRow[] = [];
  const events: GatewayEvent[] = [];
  const gateway = createGateway({
    settings: { scope: 'LLM', sources: places.map(sourceAt) },
    ...(options.telemetryUrl === undefined ? { telemetry: { write: (written) => { rows.push(...written); } } } : {}),
    random: () => 1,
    backoffS: 0.02,
    ...options,
  });
  gateway.events$.subscribe((event) => events.push(event));
  closeAfterTest(gateway.close);
  return { gateway, rows, events };
}

export function sourceAt(place: Place, at: number): SourceSettings {
  const given = typeof place === 'string' ? { baseUrl: place } : place;
  return { provider: String.fromCharCode(97 + at), model: 'm', ...given };
}

export function asks(text: string, fields: Partial<ChatRequest> = {}): ChatRequest {
  return { messages: [{ role: 'user', content: text }], ...fields };
}

export const nothingInFlight = { calls: 0, attempts: 0, streams: [], waiters: 0, parked: {}, breakers: { 'a/1': 'closed' }, paced: {} };

/** Waits until `what` holds; how long that took at most is for the test to judge. */
export async function until(holds: () => boolean, what: string, withinMs = 5000): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await sleep(2);
  }
}

/** What a promise was rejected with. */
export async function rejection<E = unknown>(promise: Promise<unknown>): Promise<E> {
  try {
    await promise;
  } catch (error) {
    return error as E;
  }
  throw new Error('it was not rejected');
}

export interface Connections {
  /** All that were ever made. */
  readonly made: number;
  readonly open: ReadonlySet<Socket>;
}

/** Counts the connections to a port of this process, as its server sees them. */
export function connectionsTo(port: number): Connections {
  const open = new Set<Socket>();
  const counted = { made: 0, open };
  const note = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort !== port) return;
    counted.made += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  diagnostics.subscribe('net.server.socket', note);
  closeAfterTest(() => diagnostics.unsubscribe('net.server.socket', note));
  return counted;
}
