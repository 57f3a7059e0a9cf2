import type { ToolCallDelta } from '../model/delta.js';
import { asRecord, asText, parseJson } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

/** Tells which call a fragment belongs to: by its index, else by its id, else by what has come before. */
export interface ChatToolCalls {
  /** `position` is the fragment's place in its frame, which stands in for an index where a frame holds several. */
  read(this: void, fragment: JsonRecord, position?: number): ToolCallDelta;
  /** Whether the arguments of every call are a whole document. */
  whole(this: void): boolean;
}

interface Fragment {
  /** The provider's number; it need not count from 0. */
  key: number | undefined;
  id: string;
  name: string;
  arguments: string;
  /** Of a custom tool, whose input is free text. */
  custom: boolean;
}

interface KnownCall extends Fragment {
  index: number;
}

export function createChatToolCalls(): ChatToolCalls {
  const calls: KnownCall[] = [];
  // The latest of each key and id: looking through all for every fragment would take the square of their number.
  const byKey = new Map<number, KnownCall>();
  const byId = new Map<string, KnownCall>();

  function callOf(fragment: Fragment): KnownCall {
    const before = findCall(fragment);
    if (before !== undefined && !startsAnother(before, fragment)) return before;
    const call = { ...fragment, index: calls.length, arguments: '' };
    calls.push(call);
    if (call.key !== undefined) byKey.set(call.key, call);
    return call;
  }

  function findCall({ key, id }: Fragment): KnownCall | undefined {
    return byId.get(id) ?? (key === undefined ? calls.at(-1) : byKey.get(key));
  }

  return {
    read(raw, position) {
      const fragment = fragmentOf(raw, position);
      const call = callOf(fragment);
      call.id ||= fragment.id;
      if (call.id !== '') byId.set(call.id, call);
      call.name ||= fragment.name;
      call.arguments += fragment.arguments;
      const extra = extraFields(raw);
      return {
        type: 'tool-call',
        index: call.index,
        ...(fragment.id === '' ? undefined : { id: fragment.id }),
        ...(fragment.name === '' ? undefined : { name: fragment.name }),
        arguments: fragment.arguments,
        ...(fragment.custom ? { custom: true } : undefined),
        ...(extra === undefined ? undefined : { extra }),
      };
    },
    whole: () => calls.every((call) => call.custom || call.arguments.trim() === '' || isWhole(call)),
  };
}

/** Some servers number every call 0, or not at all; then only id, name and a whole document tell two calls apart. */
function startsAnother(before: KnownCall, { key, id, name, arguments: args }: Fragment): boolean {
  if (id !== '' && id === before.id) return false;
  if (id !== '' && before.id !== '') {
    // An id that changes with every fragment of one call is a server's fault, not another call.
    const goesOn = before.arguments !== '' && !isWhole(before) && (name === '' || name === before.name);
    return !goesOn && (name !== '' || key === undefined || isWhole(before));
  }
  if (name === '') return false;
  return (key === undefined && name !== before.name && before.name !== '') || (args !== '' && isWhole(before));
}

function isWhole({ arguments: args }: KnownCall): boolean {
  // The cheap look at the last character spares a parse of all arguments for each of their fragments.
  return args.trimEnd().endsWith('}') && parseJson(args) !== undefined;
}

function fragmentOf(raw: JsonRecord, position: number | undefined): Fragment {
  const custom = asRecord(raw['custom']);
  const callee = asRecord(raw['function']) ?? custom ?? {};
  const key = raw['index'];
  return {
    key: typeof key === 'number' ? key : position,
    id: asText(raw['id']),
    name: asText(callee['name']),
    arguments: argumentsText(callee['arguments'] ?? callee['input']),
    custom: callee === custom,
  };
}

/** Kept as sent; only an object, which some servers send for its text, is written as JSON. */
function argumentsText(args: unknown): string {
  if (typeof args === 'string') return args;
  return args === undefined || args === null ? '' : JSON.stringify(args);
}

const knownFields = new Set(['index', 'id', 'type', 'function', 'custom']);

function extraFields(raw: JsonRecord): JsonRecord | undefined {
  let extra: JsonRecord | undefined;
  for (const field in raw) {
    if (!knownFields.has(field)) (extra ??= {})[field] = raw[field];
  }
  return extra;
}
