import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for 127.0.0.1 that signs itself, and the file that whoever is to trust it is given; nothing where there is no `openssl`. */
export function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-bench-'));
  const [keyFile, file] = ['key.pem', 'certificate.pem'].map((name) => join(folder, name));
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', ['req', '-x509', ...kind, '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', file], { stdio: 'ignore' });
  } catch {
    return { folder };
  }
  return { folder, file, key: readFileSync(keyFile), cert: readFileSync(file) };
}
