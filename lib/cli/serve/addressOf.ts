import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ConfigError, messageOf } from '../../model/errors.js';
import { isLoopbackAddress } from '../../server/loopback.js';
import { WrongUse } from '../wrongUse.js';
import { keysVariable } from './readClientKeys.js';

export interface AddressOptions {
  readonly host: string;
  readonly hasKeys: boolean;
}

/** The address to listen on. Throws `ConfigError` where anybody could ask at our expense: without keys it must be a loopback one. */
export async function addressOf({ host, hasKeys }: AddressOptions): Promise<string> {
  const address = isIP(host) === 0 ? await resolved(host) : host;
  if (hasKeys || isLoopbackAddress(address)) return address;
  throw new ConfigError([`--host ${host} can be reached from other machines, and anybody there could ask at your expense: set ${keysVariable} or --keys-file, or listen on 127.0.0.1`]);
}

async function resolved(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (error: unknown) {
    throw new WrongUse(`--host ${host} is no address of this machine: ${messageOf(error)}`);
  }
}
