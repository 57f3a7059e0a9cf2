import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../model/errors.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the usual variables name for an address; `undefined` = go there directly. Reads `HTTP_PROXY`,
 * `HTTPS_PROXY` and `NO_PROXY`, each in lower case first. `NO_PROXY` holds names (with their subdomains), suffixes
 * (`.internal`), `*`, addresses and networks (`10.0.0.0/8`), each with an optional port. Throws `ConfigError` for a
 * proxy that is no address.
 */
export function createProxyRoute(env: Environment): (url: URL) => URL | undefined {
  const proxies: Record<string, URL | undefined> = {
    'http:': proxyUrl(env, 'http_proxy'),
    'https:': proxyUrl(env, 'https_proxy'),
  };
  const exempts = (setting(env, 'no_proxy') ?? '')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(exemption);
  return (url) => {
    const proxy = proxies[url.protocol];
    return proxy === undefined || exempts.some((covers) => covers(hostOf(url), portOf(url))) ? undefined : proxy;
  };
}

/** A proxy as it may be shown: the password stays out. */
export function proxyLabel(proxy: URL): string {
  const user = proxy.username === '' ? '' : `${proxy.username}${proxy.password === '' ? '' : ':[masked]'}@`;
  return `${proxy.protocol}//${user}${proxy.host}`;
}

function setting(env: Environment, name: string): string | undefined {
  const value = env[name] ?? env[name.toUpperCase()];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function proxyUrl(env: Environment, name: string): URL | undefined {
  const value = setting(env, name);
  if (value === undefined) return undefined;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) throw new ConfigError([`${name.toUpperCase()} is no address of a proxy; write http://host:port`]);
  return new URL(text);
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
