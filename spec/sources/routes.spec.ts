import { describe, expect, test } from '@jest/globals';
import { connectionFailure } from '../../lib/sources/connectionFailure.js';
import { createHttpClient } from '../../lib/sources/httpBytes.js';
import { createProxyRoute, proxyLabel } from '../../lib/sources/proxyRoute.js';

describe('the proxy of an address (TR-03)', () => {
  const route = (env: Record<string, string>, url: string): string | undefined => createProxyRoute(env)(new URL(url))?.href;
  const proxies = { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://p:2' };

  test.each([
    [{}, 'http://a', undefined],
    [proxies, 'http://a', 'http://p:1/'],
    [proxies, 'https://a', 'http://p:2/'],
    [{ http_proxy: 'http://lower:1', HTTP_PROXY: 'http://upper:1' }, 'http://a', 'http://lower:1/'],
    [{ HTTP_PROXY: 'p:8080' }, 'http://a', 'http://p:8080/'],
    [{ HTTP_PROXY: ' ' }, 'http://a', undefined],
    [{ HTTP_PROXY: 'http://p:1' }, 'https://a', undefined],
  ])('%j sends %s to %s', (env, url, proxy) => {
    expect(route(env as Record<string, string>, url)).toBe(proxy);
  });

  test.each([
    ['*', 'http://anything', true],
    ['localhost,.internal,10.0.0.0/8', 'http://localhost:9', true],
    ['localhost,.internal,10.0.0.0/8', 'http://api.internal', true],
    ['localhost,.internal,10.0.0.0/8', 'http://10.20.30.40', true],
    ['localhost,.internal,10.0.0.0/8', 'http://11.0.0.1', false],
    ['localhost,.internal,10.0.0.0/8', 'http://10.example.com', false],
    ['example.com', 'http://example.com', true],
    ['example.com', 'http://API.Example.com', true],
    ['example.com', 'http://badexample.com', false],
    ['*.example.com', 'http://a.example.com', true],
    ['a.com b.com', 'http://b.com', true],
    ['a.com:8080', 'http://a.com:8080', true],
    ['a.com:8080', 'http://a.com', false],
    ['a.com:443', 'https://a.com', true],
    ['127.0.0.1', 'http://127.0.0.1:3', true],
    ['::1', 'http://[::1]:3', true],
    ['[::1]:3', 'http://[::1]:3', true],
    ['[::1]:3', 'http://[::1]:4', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['fd00::/8', 'http://10.0.0.1', false],
    ['10.0.0.0/99', 'http://10.0.0.1', false],
  ])('NO_PROXY=%s and %s: direct is %s', (noProxy, url, direct) => {
    expect(route({ ...proxies, NO_PROXY: noProxy }, url) === undefined).toBe(direct);
  });

  test.each([
    ['http_proxy', 'http://user:hush@ho st'],
    ['HTTP_PROXY', 'ftp://user:hush@p:1'],
    ['https_proxy', 'file:///hush'],
    ['HTTPS_PROXY', 'http://us%zzer:hush@p:1'],
    ['https_proxy', 'http://user:hush%@p:1'],
    ['https_proxy', 'http://user%:41hush@p:1'],
  ])('%s=%s is refused when the client is made, named but not shown', (name, value) => {
    const make = (): unknown => createHttpClient({ env: { [name]: value } });
    expect(make).toThrow(expect.objectContaining({ code: 'config', message: expect.stringMatching(new RegExp(`^${name} `)) }));
    expect(make).not.toThrow('hush');
  });

  test.each(['http', 'https', 'socks5', 'socks'])('%s is a protocol of proxies', (protocol) => {
    expect(route({ http_proxy: `${protocol}://us%40er:p%3A@p:1` }, 'http://a')).toBeDefined();
  });

  test('is shown without its password, and without a user who may be a token', () => {
    expect(proxyLabel(new URL('http://user:hush@p:1'))).toBe('http://user:[masked]@p:1');
    expect(proxyLabel(new URL('http://TOKEN@p:1'))).toBe('http://[masked]@p:1');
    expect(proxyLabel(new URL('http://p:1'))).toBe('http://p:1');
  });
});

describe('an error of the HTTP client (R1)', () => {
  const failure = (cause: unknown, sent = false): ReturnType<typeof connectionFailure> =>
    connectionFailure(cause, { host: 'api.example:443', sent, connectTimeoutMs: 10_000, waitedMs: 10_001 });

  test.each([
    ['ENOTFOUND', 'source'], ['EAI_AGAIN', 'source'], ['CERT_HAS_EXPIRED', 'source'], ['SELF_SIGNED_CERT_IN_CHAIN', 'source'], ['DEPTH_ZERO_SELF_SIGNED_CERT', 'source'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'source'], ['ERR_TLS_CERT_ALTNAME_INVALID', 'source'], ['ERR_SSL_WRONG_VERSION_NUMBER', 'source'],
    ['ECONNREFUSED', 'transient'], ['ECONNRESET', 'transient'], ['ETIMEDOUT', 'transient'], ['EHOSTUNREACH', 'transient'], ['UND_ERR_CONNECT_TIMEOUT', 'transient'], ['WHATEVER', 'transient'],
  ])('%s before the request is %s', (code, failureClass) => {
    // Errors of Node are not instances of this realm's Error, so a plain object stands for one.
    expect(failure({ code, message: 'm' }).code).toBe(failureClass);
    expect(failure({ message: 'outer', cause: { code, message: 'm' } }).code).toBe(failureClass);
  });

  test('once the request is out everything passes with time', () => {
    expect(failure({ code: 'ERR_SSL_DECRYPTION_FAILED', message: 'm' }, true).code).toBe('transient');
  });

  test('the connect limit is named as the cause (W1)', () => {
    expect(failure({ code: 'UND_ERR_CONNECT_TIMEOUT', message: 'm' }).cause).toMatchObject({ limit: 'connect', limitMs: 10_000, waitedMs: 10_001 });
  });
});
