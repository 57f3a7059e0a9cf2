import { asRecord, parseJson } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

/** What the data of one frame says: chunks, the end marker, or something that cannot be read. */
export type FramePayload = { type: 'chunk'; chunk: JsonRecord } | { type: 'done' } | { type: 'broken' };

const nothing: readonly FramePayload[] = [];
const done: readonly FramePayload[] = [{ type: 'done' }];
const broken: readonly FramePayload[] = [{ type: 'broken' }];
const endMarker = /^\[?done\]?$/i;

/**
 * Reads the data of one frame. Padding (`null`, numbers, empty lists) gives nothing. Frames that a server has run
 * together with single newlines give one payload each, if every line can be read by itself.
 */
export function framePayloads(data: string): readonly FramePayload[] {
  const value = data === '[DONE]' ? undefined : parseJson(data);
  return value === undefined ? oddPayloads(data.trim()) : chunksOf(value);
}

function oddPayloads(data: string): readonly FramePayload[] {
  if (data === '') return nothing;
  if (endMarker.test(data)) return done;
  if (data.startsWith('data:')) return framePayloads(data.slice('data:'.length).trim());
  const lines = data.split('\n');
  if (lines.length === 1) return broken;
  const payloads = lines.flatMap(framePayloads);
  return payloads.some(({ type }) => type === 'broken') ? broken : payloads;
}

function chunksOf(value: unknown): readonly FramePayload[] {
  if (Array.isArray(value)) return value.flatMap(chunksOf);
  const chunk = asRecord(value);
  return chunk === undefined ? nothing : [{ type: 'chunk', chunk }];
}
