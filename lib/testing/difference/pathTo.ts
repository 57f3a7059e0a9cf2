/** Where a field stands: `stats.hedges`, `headers["x-id"]`; with `argument`, what a method says: `prices.get("k")`. */
export function pathTo(path: string, key: string | symbol, ...argument: readonly unknown[]): string {
  const called = argument.map((one) => `(${shown(one)})`).join('');
  if (typeof key === 'symbol' || !/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)) return `${path}[${shown(key)}]${called}`;
  return `${path === '' ? '' : `${path}.`}${key}${called}`;
}

function shown(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : String(key);
}
