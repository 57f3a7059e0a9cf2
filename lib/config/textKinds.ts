import { postgresUrlProblem } from '../model/postgresUrl.js';
import { parseRedisUrl, redisUrlForms } from '../model/redisTarget.js';
import type { Kind, Reading } from './kind.js';

/** Told of a value whose quotes were removed. */
export const quotesRemoved = 'was wrapped in quotes, which were removed: write it without them';

/** Text without outer blanks, line ends and one matching pair of quotes, which some loaders of env files leave in. */
export function withoutQuotes(raw: string): { text: string; unquoted: boolean } {
  const text = raw.trim();
  const inside = /^(["'])(.*)\1$/s.exec(text)?.[2];
  return inside === undefined ? { text, unquoted: false } : { text: inside.trim(), unquoted: true };
}

/** A name or other line of text. */
export const line = textKind((text) => ({ value: text }));

/** A key that travels in a header. */
export const secretKey: Kind<string> = {
  ...textKind((text) => (/^[\x20-\x7e]+$/.test(text) ? { value: text } : { problem: 'has a character that no header can carry: copy the key again' })),
  secret: true,
};

/** Where an HTTP API begins; its path is kept without a slash at the end, and a query, such as Azure's `?api-version=…`, stays behind it. */
export const httpUrl = textKind((text) => {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return { problem: 'must be an http or https URL, such as https://api.openai.com/v1' };
  const { origin, pathname, search, username, password } = new URL(text);
  if (username !== '' || password !== '') return { problem: 'holds a name or a password: take them out and use API_KEY or HEADERS' };
  if (text.includes('#')) return { problem: 'has a fragment, which is never sent: leave # and what follows out' };
  const added = /\/(chat\/completions|embeddings|ocr)\/*$/.exec(pathname)?.[1];
  if (added !== undefined) return { problem: `has a path that must end before /${added}, since that is added to it` };
  return { value: origin + pathname.replace(/\/+$/, '') + search };
});

/** Where shared state is kept. */
export const redisUrl = textKind((text) =>
  parseRedisUrl(text) === undefined ? { problem: `must be one of ${redisUrlForms}, or be left out for state in memory` } : { value: text },
);

/** Where telemetry rows go. */
export const telemetryDatabase = textKind((text) => {
  if (/^sqlite:./.test(text)) return { value: text };
  if (!/^postgres(?:ql)?:/i.test(text)) return { problem: 'must be sqlite: and a file, such as sqlite:./telemetry.db, or a postgres:// URL, or be left out' };
  const problem = postgresUrlProblem(text);
  return problem === undefined ? { value: text } : { problem };
});

// What the smallest system (104 bytes with the closing zero) takes as the name of a socket.
const longestSocketPath = 103;

/** Where a running process can be watched. */
export const watchPlace = textKind((text) => {
  if (text === 'auto') return { value: text };
  if (!/[/\\]/.test(text)) return { problem: 'must be auto, or the path of a socket, such as /run/app/polygateway.sock, or be left out' };
  const bytes = Buffer.byteLength(text);
  return bytes > longestSocketPath ? { problem: `is ${bytes} bytes long, and a socket's path may have ${longestSocketPath}: choose a shorter one, or auto` } : { value: text };
});

function textKind(narrow: (text: string) => Reading<string>): Kind<string> {
  return {
    fromText: (text) => text,
    read: (value) => {
      const tidied = tidy(value);
      if ('problem' in tidied) return tidied;
      const narrowed = narrow(tidied.value);
      return 'problem' in narrowed ? narrowed : { ...tidied, ...narrowed };
    },
  };
}

function tidy(value: unknown): Reading<string> {
  if (typeof value !== 'string') return { problem: 'must be text' };
  const { text, unquoted } = withoutQuotes(value);
  if (text === '') return { problem: 'is empty: leave it out or give it a value' };
  if (/^["']|["']$/.test(text)) return { problem: 'has a quote at one end: write it without quotes' };
  if (/\p{Cc}/u.test(text)) return { problem: 'has a line end or a control character inside: it must be one line' };
  return unquoted ? { value: text, notice: quotesRemoved } : { value: text };
}
