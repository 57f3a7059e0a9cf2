const bearer = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi;
// Words such as `skip_special_tokens` and `key-value-cache` begin like keys, but have no digit and no capital.
const keyLike = /\b(?:(?:sk|pk|rk|gsk|csk|xai|pplx|nvapi|key|hf|r8|gh[pousr])[-_](?=[a-z_.-]{0,64}[A-Z0-9])|AIza|AKIA|eyJ)[A-Za-z0-9_.-]{12,}\b/g;
const namedSecret = /((?:api[-_ ]?key|authorization|password|secret|token(?:\s*hash)?|key\s*hash(?:\s*\([^)]*\))?)["']?\s*[:=]\s*["']?)(?!\[masked\])[^\s"',;}]{6,}/gi;
const longHex = /\b[0-9a-f]{32,}\b/gi;
const urlPassword = /(\b\w+:\/\/[^\s/:@]*):[^\s/@]+@/g;

/**
 * Takes keys, and whatever looks like one, out of a text that is to be shown, logged or stored. `secrets` are the keys
 * that are known; they go whatever they look like.
 */
export function maskSecrets(text: string, secrets: readonly string[] = []): string {
  return maskKnown(text, secrets)
    .replace(urlPassword, '$1:[masked]@')
    .replace(bearer, '$1 [masked]')
    .replace(keyLike, '[masked]')
    .replace(namedSecret, '$1[masked]')
    .replace(longHex, '[masked]');
}

const shortest = 4;
/** Shorter ones would be found by chance where they are encoded. */
const shortestEncoded = 8;

/** Takes out keys that are known and nothing else, also as they stand in a URL, in base64, or escaped in JSON. */
export function maskKnown(text: string, secrets: readonly string[]): string {
  return allForms(secrets).reduce((masked, form) => masked.replaceAll(form, '[masked]'), text);
}

/** A source masks with one list for as long as it lives, with each answer that it gets. */
const known = new WeakMap<readonly string[], readonly string[]>();

/** The longest first: of one that begins like a shorter one the rest would stay. */
function allForms(secrets: readonly string[]): readonly string[] {
  const before = known.get(secrets);
  if (before !== undefined) return before;
  const forms = new Set(secrets.filter(({ length }) => length >= shortest).flatMap(formsOf));
  const sorted = [...forms].sort((one, other) => other.length - one.length);
  known.set(secrets, sorted);
  return sorted;
}

function formsOf(secret: string): string[] {
  const inUrl = encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD'));
  const inJson = JSON.stringify(secret).slice(1, -1);
  const plain = [secret, inJson, inJson.replaceAll('/', '\\/'), inUrl, inUrl.replace(/%../g, (code) => code.toLowerCase()), inUrl.replaceAll('%20', '+')];
  return secret.length < shortestEncoded ? plain : [...plain, ...[0, 1, 2].flatMap((before) => inBase64(secret, before))];
}

/** What of it is the same whatever stands around it in what was encoded; `before`: bytes of that, modulo three. */
function inBase64(secret: string, before: number): string[] {
  const bytes = Buffer.from(secret);
  const first = Math.ceil((before * 8) / 6);
  const last = Math.floor(((before + bytes.length) * 8) / 6);
  const form = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64').slice(first, last);
  return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
}

/** A secret as it may be shown in a table: long ones by their ends, so that two keys can be told apart. */
export function maskKey(secret: string): string {
  return secret.length < 12 ? '***' : `${secret.slice(0, 3)}…${secret.slice(-2)}`;
}
