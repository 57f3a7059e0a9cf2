import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface WireCase {
  id: string;
  kind: string;
  what: string;
  request: {
    endpoint: string;
    stream: boolean;
    model: string;
    base_url?: string;
    n?: number;
    timeouts?: { idle_ms?: number; headers_ms?: number; first_token_ms?: number };
    [field: string]: unknown;
  };
  response: WireResponse;
  expect: WireExpectation;
}

export interface WireResponse {
  status: number | null;
  headers: Record<string, string>;
  /** `chunked`: one HTTP chunk per entry, then the closing one; `raw`: the chunks are the whole reply. */
  framing: 'chunked' | 'chunked_unterminated' | 'length' | 'eof' | 'none' | 'raw';
  chunks: { base64: string; delay_ms?: number; repeat?: number }[];
  end: 'close' | 'reset' | 'hang';
  header_delay_ms?: number;
  transport?: 'dns' | 'refused' | 'tls_expired' | 'tls_untrusted' | 'h2';
  goaway?: { after_chunk: number; code: number; destroy: boolean };
}

export interface WireUsage {
  prompt: number | null;
  completion: number | null;
  reasoning: number | null;
  cached: number | null;
  total: number | null;
}

export interface WireToolCall {
  id: string;
  name: string;
  arguments: string | null;
}

export interface WireExpectation {
  outcome: 'ok' | 'error';
  content?: string;
  reasoning?: string;
  refusal?: string;
  tool_calls?: WireToolCall[];
  tool_extra_kept?: string[];
  arguments_repeat?: { prefix: string; text: string; times: number; suffix: string };
  finish_reason?: string | null;
  usage?: WireUsage | null;
  counted_deltas?: number | null;
  logprob_tokens?: string[];
  error?: { class: string; http_status?: number; retry_after_s?: number | null };
  partial?: { content: string; reasoning: string; tool_calls: WireToolCall[]; counted_deltas: number };
  tolerance_s?: number;
  redact?: string[];
  message_max_chars?: number;
  message_must_not_contain?: string[];
  also_ok?: {
    outcome?: string[];
    error_class?: string[];
    retry_after_s?: (number | null)[];
    finish_reason?: string[];
    usage?: (WireUsage | null)[];
    counted_deltas?: number[];
  };
}

const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures', 'wire', 'cases.jsonl');

/** Byte-exact provider answers, made after public bug reports, each with its right outcome. */
export function wireCases(endpoint: string): WireCase[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as WireCase)
    .filter(({ request }) => request.endpoint === endpoint);
}
