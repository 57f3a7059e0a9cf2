import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only this machine can reach an IP address. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a `host` header, or the part of an `origin` behind its scheme, names this machine to itself. */
export function isLoopbackHost(host: string): boolean {
  const [, name = ''] = /^(\[[\da-f:.]+\]|[a-z\d.-]+)(?::\d{1,5})?$/i.exec(host) ?? [];
  const plain = name.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  return plain === 'localhost' || plain.endsWith('.localhost') || isLoopbackAddress(plain);
}
