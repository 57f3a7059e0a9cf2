/** A Redis server, the servers of a cluster, or the sentinels that know the master. */
export interface RedisTarget {
  readonly type: 'single' | 'cluster' | 'sentinel';
  readonly tls: boolean;
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
  /** The name of the master; only of sentinels. */
  readonly master?: string;
}

export const redisUrlForms = 'redis://host:6379/0, redis+cluster://host1:6379,host2:6379 or redis+sentinel://host1:26379,host2:26379/mymaster, each with rediss for TLS';

const form = /^redis(s)?(?:\+(cluster|sentinel))?:\/\/(?:([^@]*)@)?([^/@?#]+)(?:\/([^?#]*))?$/i;
const ports = { single: 6379, cluster: 6379, sentinel: 26_379 };

/** Reads the address of a shared backend; `undefined` where it is none. User and password are percent-encoded. */
export function parseRedisUrl(url: string): RedisTarget | undefined {
  const [matched, tls, kind, credentials, hostList = '', path = ''] = form.exec(url) ?? [];
  if (matched === undefined) return undefined;
  const type = (kind?.toLowerCase() ?? 'single') as RedisTarget['type'];
  const hosts = hostList.split(',').map((host) => parseHost(host, ports[type]));
  const place = placeOf(type, path);
  const login = loginOf(credentials);
  if (place === undefined || login === undefined || (type === 'single' && hosts.length > 1)) return undefined;
  const valid = hosts.flatMap((host) => host ?? []);
  return valid.length === hosts.length ? { type, tls: tls !== undefined, hosts: valid, ...login, ...place } : undefined;
}

/** `/db`, `/master/db`, or nothing: a cluster has no databases. */
function placeOf(type: RedisTarget['type'], path: string): Pick<RedisTarget, 'db' | 'master'> | undefined {
  const [first = '', second = '', ...rest] = path.split('/');
  if (rest.length > 0) return undefined;
  if (type === 'sentinel') return first !== '' && /^\d*$/.test(second) ? { master: first, db: Number(second) } : undefined;
  if (second !== '' || !/^\d*$/.test(first)) return undefined;
  return type === 'cluster' && Number(first) !== 0 ? undefined : { db: Number(first) };
}

function parseHost(text: string, defaultPort: number): { host: string; port: number } | undefined {
  const [, v6, name, port = String(defaultPort)] = /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = v6 ?? name;
  return host === undefined || Number(port) < 1 || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}

function loginOf(credentials: string | undefined): Pick<RedisTarget, 'username' | 'password'> | undefined {
  if (credentials === undefined) return {};
  const [user = '', ...rest] = credentials.split(':');
  // A name alone would log in nobody.
  if (rest.length === 0) return undefined;
  try {
    return { ...(user !== '' && { username: decodeURIComponent(user) }), password: decodeURIComponent(rest.join(':')) };
  } catch {
    return undefined;
  }
}
