import { startPostgres } from './postgresServer.js';
import { startRedis } from './redisServer.js';

/** The databases that all specs of a run share. */
export interface Services {
  stop(): Promise<void>;
}

interface Service {
  readonly url: string;
  stop(): Promise<void>;
}

const starters: Readonly<Record<string, () => Promise<Service>>> = { REDIS_URL: startRedis, POSTGRES_URL: startPostgres };

/** Starts each one whose address the environment lacks, and sets it there until they are stopped; all or none. */
export async function startServices(): Promise<Services> {
  const missing = Object.entries(starters).filter(([name]) => (process.env[name] ?? '') === '');
  const settled = await Promise.allSettled(missing.map(([name, start]) => startAs(name, start)));
  const undo = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const reasons = settled.flatMap((result) => (result.status === 'rejected' ? [messageOf(result.reason)] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(undo.map((step) => step()));
  };
  if (reasons.length === 0) return { stop };
  await stop();
  throw new Error(reasons.join('\n'));
}

/** Returns what undoes it. */
async function startAs(name: string, start: () => Promise<Service>): Promise<() => Promise<void>> {
  const service = await start();
  process.env[name] = service.url;
  return async () => {
    Reflect.deleteProperty(process.env, name);
    await service.stop();
  };
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
