import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

// A minimal X.509 v3 writer, so that no certificate and no private key has to be stored.

interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

export interface TestCertificates {
  /** The authority to trust, PEM. */
  ca: string;
  valid: { key: string; cert: string };
  expired: { key: string; cert: string };
  /** Signed by an authority that nobody knows. */
  untrusted: { key: string; cert: string };
}

/** Certificates for `localhost` and `127.0.0.1`. */
export function testCertificates(): TestCertificates {
  const caKey = newKey();
  const strangerKey = newKey();
  const leafKey = newKey();
  const key = leafKey.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const leaf = (signer: KeyPair, issuer: string, days: readonly [number, number]): { key: string; cert: string } => ({
    key,
    cert: certificate({ subject: 'localhost', issuer, key: leafKey, signer, days, isCa: false }),
  });
  return {
    ca: certificate({ subject: 'test CA', issuer: 'test CA', key: caKey, signer: caKey, days: [-400, 400], isCa: true }),
    valid: leaf(caKey, 'test CA', [-30, 30]),
    expired: leaf(caKey, 'test CA', [-60, -30]),
    untrusted: leaf(strangerKey, 'stranger CA', [-30, 30]),
  };
}

const newKey = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const n = body.length;
  const length = n < 128 ? [n] : n < 256 ? [0x81, n] : [0x82, n >> 8, n & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes));
const commonName = (text: string): Buffer => der(0x30, der(0x31, der(0x30, oid(0x55, 4, 3), der(0x0c, Buffer.from(text)))));
const ecdsaSha256 = der(0x30, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2));
const pem = (body: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(body.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

function time(days: number): Buffer {
  const text = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return der(0x18, Buffer.from(`${text}Z`));
}

function certificate({ subject, issuer, key, signer, days, isCa }: {
  subject: string;
  issuer: string;
  key: KeyPair;
  signer: KeyPair;
  days: readonly [number, number];
  isCa: boolean;
}): string {
  const yes = der(0x01, Buffer.from([0xff]));
  const extensions = [
    der(0x30, oid(0x55, 0x1d, 0x13), yes, der(0x04, isCa ? der(0x30, yes) : der(0x30))),
    der(0x30, oid(0x55, 0x1d, 0x0f), yes, der(0x04, der(0x03, Buffer.from(isCa ? [1, 0x06] : [7, 0x80])))),
  ];
  const names = der(0x30, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  if (!isCa) extensions.push(der(0x30, oid(0x55, 0x1d, 0x11), der(0x04, names)));
  const serial = randomBytes(8);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 1;
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaSha256,
    commonName(issuer),
    der(0x30, time(days[0]), time(days[1])),
    commonName(subject),
    key.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, ...extensions)),
  );
  return pem(der(0x30, body, ecdsaSha256, der(0x03, Buffer.from([0]), sign('sha256', body, signer.privateKey))));
}
