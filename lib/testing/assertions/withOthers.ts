import { kindOf } from '../difference/kindOf.js';
import { showValue } from '../difference/showValue.js';

const mostShown = 8;

/** The first of all that was thrown, whoever threw it; its message names the others. */
export function withOthers(first: unknown, others: readonly unknown[]): unknown {
  const error = kindOf(first) === 'error' ? (first as Error) : new Error(`A check threw ${showValue(first)}, which is no error.`, { cause: first });
  if (others.length === 0 || Object.getOwnPropertyDescriptor(error, 'message')?.writable !== true) return error;
  const lines = others.slice(0, mostShown).map((other) => `  - ${kindOf(other) === 'error' ? ((other as Error).message.split('\n')[0] ?? '') : showValue(other)}`);
  const more = others.length > mostShown ? [`  … and ${others.length - mostShown} more`] : [];
  const { message: told, stack } = error;
  error.message = [`${told}\n`, `${others.length} more ${others.length === 1 ? 'check' : 'checks'} failed:`, ...lines, ...more].join('\n');
  if (stack !== undefined) error.stack = stack.replace(told, () => error.message);
  return error;
}
