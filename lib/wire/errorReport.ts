import { asList, asRecord, asText, parseJson } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

/** What a provider says about a failure, gathered from the dialects in use. */
export interface ErrorReport {
  /** For people; empty when nothing was said. */
  message: string;
  /** Codes, types and reasons as sent, the most particular first. */
  codes: readonly string[];
  /** An HTTP status named in the body. */
  status?: number;
  /** Seconds, from a `RetryInfo` or a `retry_after` field. */
  retryAfterS?: number;
  /** Headers of its own upstream that a relay quotes. */
  headers: JsonRecord;
  requestId?: string;
  /** Whether the body had fields; the words of a bare text may be anybody's. */
  structured: boolean;
}

/** Whether a chunk or document reports a failure instead of carrying an answer. */
export function isErrorReport(body: JsonRecord): boolean {
  if (saysSomething(body['error'])) return true;
  if (body['object'] === 'error' || body['type'] === 'error') return true;
  if (Array.isArray(body['choices']) || asRecord(body['delta']) !== undefined || asRecord(body['message']) !== undefined) return false;
  const outcome = asRecord(body['base_resp'])?.['status_code'];
  if (typeof outcome === 'number' && outcome !== 0) return true;
  const speaks = asText(body['message']) !== '' || asText(body['msg']) !== '';
  return saysSomething(body['detail']) || body['success'] === false || (speaks && isFailureCode(body['code']));
}

/** Some send the field with every chunk, and nothing in it when all is well. */
function saysSomething(value: unknown): boolean {
  const fields = asRecord(value);
  if (fields !== undefined) return Object.values(fields).some(saysSomething);
  return Array.isArray(value) ? value.some(saysSomething) : Boolean(value) && value !== '0';
}

function isFailureCode(code: unknown): boolean {
  return code !== undefined && code !== null && code !== 0 && code !== 200 && code !== '0' && code !== '200' && code !== 'success';
}

/** Reads a report from a body: a JSON text, a document already read, or any other text. */
export function errorReport(body: unknown): ErrorReport {
  const value = typeof body === 'string' ? (parseJson(body) ?? body) : body;
  const outer = asRecord(Array.isArray(value) ? value[0] : value);
  if (outer === undefined) return { message: plainText(asText(value)), codes: [], headers: {}, structured: false };
  const inner = innermost(outer);
  const levels = [inner, asRecord(inner['innererror']), asRecord(inner['metadata']), outer, asRecord(outer['base_resp'])].filter(isPresent);
  const details = asList(inner['details']).map(asRecord).filter(isPresent);
  const status = levels.flatMap(statusCandidates).find((code) => code >= 400 && code <= 599);
  const retryAfterS = details.map((detail) => secondsOf(detail['retryDelay'])).find(isPresent) ?? secondsOf(inner['retry_after']);
  const requestId = asText(outer['request_id']) || asText(inner['request_id']);
  return {
    message: plainText(messageText(outer, inner)),
    codes: [...levels.flatMap(codesOf), ...details.flatMap(detailCodes)],
    ...(status === undefined ? undefined : { status }),
    ...(retryAfterS === undefined ? undefined : { retryAfterS }),
    ...(requestId === '' ? undefined : { requestId }),
    headers: asRecord(asRecord(inner['metadata'])?.['headers']) ?? {},
    structured: true,
  };
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

function innermost(body: JsonRecord): JsonRecord {
  const inner = asRecord(body['error']);
  return inner === undefined ? body : innermost(inner);
}

const codeFields = ['code', 'type', 'error_type', 'error_code', 'reason', 'status'] as const;

function codesOf(level: JsonRecord): string[] {
  const minimax = level['status_code'];
  const codes = codeFields.map((field) => level[field]).filter((code) => typeof code === 'string' || typeof code === 'number');
  return [...codes, ...(typeof minimax === 'number' ? [minimax] : [])].map(String).filter((code) => code !== '' && code !== 'error');
}

function detailCodes(detail: JsonRecord): string[] {
  const quotas = asList(detail['violations']).map((violation) => asText(asRecord(violation)?.['quotaId']));
  return [asText(detail['reason']), ...quotas].filter((code) => code !== '');
}

function statusCandidates(level: JsonRecord): number[] {
  return [level['code'], level['status'], level['http_code'], level['status_code'], level['raw_status_code']]
    .map((value) => (typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value))
    .filter((value) => typeof value === 'number');
}

function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d+(\.\d+)?s?$/.test(value) ? Number.parseFloat(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

function messageText(outer: JsonRecord, inner: JsonRecord): string {
  const base = asRecord(outer['base_resp'])?.['status_msg'];
  const places = [inner['message'], outer['error'], inner['msg'], inner['detail'], inner['error_msg'], outer['message'], outer['title'], base];
  return places.map(wordsOf).find((text) => text !== '') ?? '';
}

/** The words in a text, in a list of complaints, or in fields that hold one of these. */
function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(complaint).filter((text) => text !== '').join('; ');
  const fields = asRecord(value);
  return fields === undefined ? asText(value) : wordsOf(fields['message']) || wordsOf(fields['msg']) || wordsOf(fields['detail']);
}

/** One entry of a validation list; its `input` is a part of the prompt and stays out. */
function complaint(entry: unknown): string {
  const fields = asRecord(entry);
  if (fields === undefined) return asText(entry);
  const place = asList(fields['loc']).map(String).join('.');
  return [place, asText(fields['msg'])].filter((text) => text !== '').join(': ');
}

/** Where a text begins to quote the request: validators answer with what they were given, in JSON or Python's way. */
const echo = /\\?['"](?:input\\?['"]\s*:|(?:messages|prompt|content)\\?['"]\s*:\s*\\?[[{('"])|\binput_value\s*=/;

/** A text without markup and without what it quotes of the request; of a page only its title. */
function plainText(text: string): string {
  const [start = ''] = text.slice(0, 4000).split(echo, 1);
  const title = /<title[^>]*>([^<]*)/i.exec(start)?.[1];
  const plain = title ?? (/^\s*<(!doctype|html|head|body|\?xml)/i.test(start) ? '' : start.replace(/<[a-z/!][^>]*>/gi, ' '));
  return plain.replace(/[\s\x00-\x1f\x7f]+/g, ' ').trim();
}
