import type { Choose } from './random.js';

const host = 'host: localhost\r\n';
const json = 'content-type: application/json\r\n';
const body = '{"model":"m","messages":[{"role":"user","content":"x"}]}';
const good = `POST /v1/chat/completions HTTP/1.1\r\n${host}${json}content-length: ${body.length}\r\n\r\n${body}`;
const post = (headers: string, text = body): string => `POST /v1/chat/completions HTTP/1.1\r\n${host}${json}${headers}\r\n${text}`;

type Make = (choose: Choose) => string;

/** What may come over a socket instead of a request, as bytes in latin1. */
export const brokenHttp: Readonly<Record<string, Make>> = {
  'request line': ({ oneOf, bytes, below }) =>
    oneOf(['GET\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'G\0T / HTTP/1.1\r\n\r\n', 'get / HTTP/1.1\r\n\r\n', 'POST  /  HTTP/1.1\r\n\r\n', ' GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1 x\r\n\r\n', `${'M'.repeat(5000)} / HTTP/1.1\r\n\r\n`, '\r\n\r\n\r\n', bytes(below(300)), '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']),
  'header bomb': ({ oneOf, below }) => {
    const many = Array.from({ length: 300 + below(1000) }, (_, n) => `x-${n}: ${n}\r\n`).join('');
    return oneOf([`GET / HTTP/1.1\r\n${host}${many}\r\n`, `GET / HTTP/1.1\r\n${host}x-a: ${'a'.repeat(10_000 + below(20_000))}\r\n\r\n`, `GET / HTTP/1.1\r\n${host}${'x'.repeat(20_000)}: a\r\n\r\n`, `GET / HTTP/1.1\r\n${host}${'\r\n '.repeat(4000)}`]);
  },
  'wrong length': ({ oneOf, below }) => post(`content-length: ${oneOf(['-1', '1e3', '0x10', '99999999999999999999', ' ', 'NaN', '1,2', `${body.length}, ${body.length}`, String(below(body.length)), String(body.length + 1 + below(1000)), '33554433'])}\r\n`),
  'two lengths': ({ below }) => post(`content-length: ${body.length}\r\ncontent-length: ${below(100)}\r\n`),
  'length and encoding': ({ oneOf }) => post(`content-length: ${body.length}\r\ntransfer-encoding: ${oneOf(['chunked', 'Chunked', ' chunked', 'identity, chunked', 'chunked, identity', 'xchunked', '\x0bchunked'])}\r\n`, oneOf([body, '0\r\n\r\n', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n${host}\r\n`])),
  'truncated': ({ below }) => good.slice(0, below(good.length)),
  'chunking': ({ oneOf, bytes, below }) =>
    post('transfer-encoding: chunked\r\n', oneOf(['zz\r\n', '-5\r\nhello\r\n', 'ffffffffffffffffff\r\nx', '5\r\nhello0\r\n\r\n', `5;${'e'.repeat(20_000)}\r\nhello\r\n`, '5\nhello\n0\n\n', '\r\n\r\n', bytes(below(100)), `3\r\n{"a\r\n${'1\r\nx\r\n'.repeat(below(500))}`, '0\r\nx-trailer: \0\r\n\r\n', `0\r\n${'x: y\r\n'.repeat(5000)}\r\n`])),
  'pipelined': ({ oneOf, bytes, below }) => {
    const first = oneOf([`GET /healthz HTTP/1.1\r\n${host}\r\n`, `GET /v1/models HTTP/1.1\r\n${host}\r\n`, good]);
    return first.repeat(1 + below(2)) + oneOf([bytes(1 + below(200)), 'nonsense\r\n\r\n', '\0'.repeat(50), good.slice(0, below(good.length)), '}'.repeat(100)]);
  },
  'NUL': ({ below }) => {
    const at = below(good.length);
    return `${good.slice(0, at)}\0${good.slice(at + below(2))}`;
  },
  'target': ({ oneOf, bytes, below }) =>
    `GET ${oneOf([`/${'a'.repeat(2000 + below(20_000))}`, '/%zz', '/%', '/v1/models/%c0%af%00', '/../../../etc/passwd', '//evil.example/v1/models', 'http://evil.example/v1/models', 'evil.example:443', '*', '/v1/models?' + 'a=b&'.repeat(3000), `/v1/models/${bytes(40).replace(/[\s\0]/g, '')}`, '/v1/models/__proto__', '/constructor', '/v1/chat/completions/', '/V1/MODELS', '/\\..\\', '/v1/models;x=y', '/%2e%2e/', '/v1/models/%F0%9F%92%A9'])} HTTP/1.1\r\n${host}\r\n`,
  'method': ({ oneOf }) => `${oneOf(['CONNECT', 'TRACE', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'PROPFIND', 'LINK', 'QUERY', 'SOURCE', 'M-SEARCH', 'PURGE'])} ${oneOf(['/v1/chat/completions', '/v1/models', '*', '/', 'evil.example:443'])} HTTP/1.1\r\n${host}${oneOf(['', 'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x\r\n', 'upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAAA\r\n', 'expect: 100-continue\r\n', 'expect: the-unexpected\r\n'])}\r\n`,
  'headers': ({ oneOf, bytes }) =>
    oneOf(['GET /healthz HTTP/1.1\r\n\r\n', `GET /v1/models HTTP/1.1\r\nhost : localhost\r\n\r\n`, `GET /v1/models HTTP/1.1\r\n${host}${host}\r\n`, `GET /v1/models HTTP/1.1\r\n${host}x-a: b\r\n folded\r\n\r\n`, `GET /v1/models HTTP/1.1\r\nhost: evil.example\r\n\r\n`, `GET /v1/models HTTP/1.1\r\n${host}: nameless\r\n\r\n`, `GET /v1/models HTTP/1.1\r\n${host}x\r\n\r\n`, `GET /v1/models HTTP/1.1\n${host}\n`, `GET /v1/models HTTP/1.1\r\n${host}x: ${bytes(60)}\r\n\r\n`, 'GET /v1/models HTTP/1.0\r\n\r\n', `GET /v1/models HTTP/1.1\r\n${host}authorization: ${bytes(20)}\r\n\r\n`, post(`content-encoding: gzip\r\ncontent-length: ${body.length}\r\n`), `GET /v1/models HTTP/1.1\r\n${host}accept-version: 1.x\r\n\r\n`, `GET /v1/models HTTP/1.1\r\n${host}connection: close, keep-alive, \x7f\r\n\r\n`]),
  'mutated': ({ below, bytes }) => {
    let text = good;
    for (let left = 1 + below(5); left > 0; left -= 1) {
      const at = below(text.length);
      text = text.slice(0, at) + bytes(below(3)) + text.slice(at + below(3));
    }
    return text;
  },
};
