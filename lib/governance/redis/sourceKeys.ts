/** In this order: what `KEYS` holds in every script. */
const parts = ['breaker', 'source', 'leases', 'held', 'window', 'spending', 'released', 'waiting', 'seen'] as const;

export const keyCount = parts.length;

/** Keys of another layout have another number, so that versions side by side do not read each other's. */
const layout = 1;

/**
 * The keys of one source. The tag in braces puts them into one hash slot; names are encoded, so that neither braces nor
 * separators in them can break the tag or make two sources share a key.
 */
export function sourceKeys(scope: string, sourceId: string): readonly string[] {
  const tag = `{${encoded(scope)}/${encoded(sourceId)}}`;
  return parts.map((part) => `polygateway:${layout}:${tag}:${part}`);
}

/** By code unit, since a name may hold anything, half a character too. */
function encoded(name: string): string {
  return name.replace(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
