import { maskSecrets } from '../model/mask.js';

const longest = 80;

/** A refused value as it may stand in a message: on one line, cut, and without anything that looks like a secret. */
export function shownValue(value: unknown, secrets: readonly string[]): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(cut(maskUrl(maskSecrets(value, secrets))));
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? 'null' : `of type ${Array.isArray(value) ? 'array' : typeof value}`;
  }
}

/** A URL without the name, password, query and fragment, where credentials hide. */
export function maskUrl(text: string): string {
  return text.replace(/^([^/@]*:\/\/)?[^]*@/, '$1[masked]@').replace(/^([^:]*:\/\/[^?#]*)([?#])[^]+$/, '$1$2[masked]');
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}...` : text;
}
