import { createEmbedding } from '../../assemble/createEmbedding.js';
import type { Embedding } from '../../assemble/createEmbedding.js';
import { createGateway } from '../../assemble/createGateway.js';
import type { Gateway } from '../../assemble/createGateway.js';
import { partsUnder } from '../../config/parseEnvKey.js';
import type { Finding, GatewaySettings } from '../../config/settings.js';
import { settingsFromEnv } from '../../config/settingsFromEnv.js';
import { createFrontDoor } from '../../server/frontDoor.js';
import type { Delivery, FrontDoor, FrontDoorOptions } from '../../server/frontDoor.js';
import { exitCodes } from '../exitCodes.js';
import { findingLine } from '../findingLine.js';
import { stopped } from '../interruption.js';
import { tellTrouble } from '../tellTrouble.js';
import type { Terminal } from '../terminal.js';
import { addressOf } from './addressOf.js';
import { endInOrder } from './endInOrder.js';
import { readClientKeys } from './readClientKeys.js';
import { requestLine } from './requestLine.js';

export interface ServeOptions {
  readonly scope: string;
  readonly embeddingScope: string;
  readonly host: string;
  readonly port: number;
  readonly delivery: Delivery;
  readonly keepaliveS: number;
  readonly noticeS: number;
  readonly drainS: number;
  readonly slowClientS: number;
  readonly maxBodyMb: number;
  readonly keysFile?: string;
  readonly quiet: boolean;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** What is served, from its settings. */
interface Served {
  readonly chat: Gateway;
  readonly embedding: Embedding | undefined;
  readonly models: readonly string[];
  readonly findings: readonly Finding[];
}

/** Serves until it is stopped, and then ends in order. */
export async function runServe(options: ServeOptions): Promise<number> {
  const { host, keysFile, quiet, terminal: { env, err } } = options;
  const keys = readClientKeys({ env, file: keysFile });
  const address = await addressOf({ host, hasKeys: keys !== undefined });
  const served = await open(options);
  const scopes = [served.chat, ...(served.embedding === undefined ? [] : [served.embedding])];
  const troubles = scopes.map(({ events$ }) => tellTrouble(events$, err));
  if (!quiet) for (const finding of served.findings) err.line(findingLine(finding, err.paint));
  const closeScopes = async (): Promise<void> => {
    await Promise.all(scopes.map(({ close }) => close()));
  };
  try {
    await serve(createFrontDoor({ ...doorOptions(options, served), ...(keys === undefined ? {} : { keys }) }), { ...options, address, closeScopes });
    return exitCodes.done;
  } finally {
    await closeScopes();
    for (const trouble of troubles) trouble.unsubscribe();
  }
}

type Serving = ServeOptions & { readonly address: string; readonly closeScopes: () => Promise<void> };

async function serve(door: FrontDoor, { address, port, noticeS, drainS, closeScopes, terminal: { out }, signal }: Serving): Promise<void> {
  try {
    const { url } = await door.listen({ host: address, port });
    out.line(`listening on ${url}`);
    await stopped(signal);
  } finally {
    await endInOrder({ door, noticeS, drainS, closeScopes });
  }
}

async function open({ scope, embeddingScope, delivery, terminal: { env } }: ServeOptions): Promise<Served> {
  const settings = settingsFromEnv(scope, env);
  const hasEmbedding = Object.entries(env).some(([key, value = '']) => value !== '' && partsUnder(embeddingScope, key) !== undefined);
  const embeddingSettings = hasEmbedding ? settingsFromEnv(embeddingScope, env) : undefined;
  const chat = createGateway({ settings });
  try {
    const embedding = embeddingSettings === undefined ? undefined : createEmbedding({ settings: embeddingSettings });
    const findings = [...chat.findings, ...(embedding?.findings ?? []), ...findingsOf(settings, delivery)];
    return { chat, embedding, findings, models: modelsOf([settings, ...(embeddingSettings === undefined ? [] : [embeddingSettings])]) };
  } catch (error: unknown) {
    await chat.close();
    throw error;
  }
}

/** A setting that most streams of this server would not feel. */
function findingsOf({ scope, hedgeStallAfterS }: GatewaySettings, delivery: Delivery): Finding[] {
  if (delivery === 'buffered' || hedgeStallAfterS === undefined) return [];
  const key = `${scope}__HEDGE__STALL_AFTER_S`;
  return [{ level: 'warning', rule: 'H12', key, message: `${key} has no effect on streams that are passed on as they come (H12): start with --delivery buffered, or have clients ask for it, where silences in the middle are to be hedged` }];
}

function modelsOf(settings: readonly GatewaySettings[]): string[] {
  return [...new Set(settings.flatMap(({ sources }) => sources.map(({ model }) => model)))];
}

function doorOptions({ delivery, keepaliveS, slowClientS, maxBodyMb, quiet, terminal: { err } }: ServeOptions, { chat, embedding, models }: Served): FrontDoorOptions {
  return {
    chat,
    ...(embedding === undefined ? {} : { embedding }),
    models,
    delivery,
    keepaliveS,
    slowClientS,
    maxBodyBytes: maxBodyMb * 2 ** 20,
    ...(quiet ? {} : { onRequest: (request) => err.line(requestLine(request, { paint: err.paint, date: new Date() })) }),
  };
}
