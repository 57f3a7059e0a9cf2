import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../model/errors.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the usual variables name for an address; `undefined` = go there directly. Reads `HTTP_PROXY`,
 * `HTTPS_PROXY` and `NO_PROXY`, each in lower case first. `NO_PROXY` holds names (with their subdomains), suffixes
 * (`.internal`), `*`, addresses and networks (`10.0.0.0/8`), each with an optional port. Throws `ConfigError` for a
 * proxy that cannot be one, naming the variable.
 */
export function createProxyRoute(env: Environment): (url: URL) => URL | undefined {
  const proxies: Record<string, URL | undefined> = {
    'http:': proxyUrl(variable(env, 'http_proxy')),
    'https:': proxyUrl(variable(env, 'https_proxy')),
  };
  const exempts = variable(env, 'no_proxy')
    .value.split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(exemption);
  return (url) => {
    const proxy = proxies[url.protocol];
    return proxy === undefined || exempts.some((covers) => covers(hostOf(url), portOf(url))) ? undefined : proxy;
  };
}

/** A proxy as it may be shown: the password stays out, and a user without one, who is a token. */
export function proxyLabel({ protocol, username, password, host }: URL): string {
  const user = password === '' ? '' : `${username}:`;
  return `${protocol}//${username === '' && password === '' ? '' : `${user}[masked]@`}${host}`;
}

/** The passwords in the usual variables, and users without one, who are tokens. To be called once the variables are known to be good. */
export function proxySecrets(env: Environment): string[] {
  const proxies = ['http_proxy', 'https_proxy'].map((name) => proxyUrl(variable(env, name)));
  return proxies.flatMap((proxy) => (proxy === undefined ? [] : [decodeURIComponent(proxy.password || proxy.username)])).filter((secret) => secret !== '');
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

function variable(env: Environment, lowerCase: string): Variable {
  const name = env[lowerCase] === undefined ? lowerCase.toUpperCase() : lowerCase;
  return { name, value: env[name]?.trim() ?? '' };
}

const proxyProtocol = /^(https?|socks5?):$/;

/** The value stays out of the messages: it may hold a password. */
function proxyUrl({ name, value }: Variable): URL | undefined {
  if (value === '') return undefined;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !proxyProtocol.test(url.protocol)) throw new ConfigError([`${name} is no address of a proxy; write http://host:port`]);
  if (!canDecode(`${url.username}:${url.password}`)) {
    throw new ConfigError([`${name} holds a user or a password that cannot be decoded; write a % in it as %25`]);
  }
  return url;
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}

type Exemption = (host: string, port: string) => boolean;

function exemption(entry: string): Exemption {
  if (entry === '*') return () => true;
  const [, network = '', prefix] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (isIP(network) !== 0) return networkExemption(network, Number(prefix));
  const [, host = '', port] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry.toLowerCase()) ?? [];
  const name = host.replace(/^\*?\./, '');
  return (asked, askedPort) => (port === undefined || port === askedPort) && (asked === name || asked.endsWith(`.${name}`));
}

function networkExemption(network: string, prefix: number): Exemption {
  const list = new BlockList();
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (prefix > (family === 'ipv6' ? 128 : 32)) return () => false;
  list.addSubnet(network, prefix, family);
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}
