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
  let masked = text;
  for (const secret of secrets) {
    if (secret.length >= 4) masked = masked.replaceAll(secret, '[masked]');
  }
  return masked
    .replace(urlPassword, '$1:[masked]@')
    .replace(bearer, '$1 [masked]')
    .replace(keyLike, '[masked]')
    .replace(namedSecret, '$1[masked]')
    .replace(longHex, '[masked]');
}

/** A secret as it may be shown in a table: long ones by their ends, so that two keys can be told apart. */
export function maskKey(secret: string): string {
  return secret.length < 12 ? '***' : `${secret.slice(0, 3)}…${secret.slice(-2)}`;
}
