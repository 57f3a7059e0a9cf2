const form = 'postgres://user:password@host:5432/database';

/** Why this is not the address of a Postgres database, with the remedy; `undefined` if it is one. Never shows any part of it. */
export function postgresUrlProblem(url: string): string | undefined {
  const [, rest = ''] = /^postgres(?:ql)?:\/\/[^/?#]*([^]*)$/i.exec(url) ?? [];
  // Then a password ends too early, and its rest would be taken for the name of the database.
  if (/[@#]/.test(rest)) return `has @ or # behind its host: write the characters / ? # @ : % of a password as %2F %3F %23 %40 %3A %25`;
  if (!/^postgres(?:ql)?:\/\/\S+$/i.test(url) || !URL.canParse(url)) return `must be ${form}`;
  const { hostname, pathname, searchParams } = new URL(url);
  if (hostname === '' && (searchParams.get('host') ?? '') === '') return `names no host: write ${form}`;
  if (pathname.length < 2) return `names no database: write ${form}`;
  return isEncoded(url) ? undefined : 'has a % that is not followed by the two hexadecimal digits of a character: write %25 for the character itself';
}

function isEncoded(url: string): boolean {
  try {
    return !decodeURIComponent(url).includes('\u0000');
  } catch {
    return false;
  }
}
