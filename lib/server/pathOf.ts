/** What was asked for, without the query, which may hold what is nobody else's business. */
export function pathOf(target: string): string {
  return target.replace(/\?.*$/s, '');
}
