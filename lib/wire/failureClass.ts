import type { FailureClass } from '../model/errors.js';
import type { ErrorReport } from './errorReport.js';

/** Codes are compared in lower case with single underscores, so that one rule reads every way of writing them. */
const codeRules: readonly (readonly [RegExp, FailureClass])[] = [
  [/insufficient_(user_)?(quota|balance|credit|fund)|out_of_credit|credit_(balance|exhaust|limit)|arrear|overdue|billing|payment_required|exceeded_current_quota|^111[23]$|^1008$/, 'source'],
  [/per_?(day|week|month)|daily|weekly|monthly|^13(04|09|10)$/, 'source'],
  [/(model|deployment)_?(is_)?not_?(found|supported|available|exist)|(unknown|invalid|unsupported|no_such)_model|model_does_not_exist|^1211$/, 'source'],
  [/context_?(length|size|window)|(prompt|input|request)_too_(long|large)|string_above_max_length/, 'request'],
  [/content_?(filter|policy|moderation)|policy_violation|responsible_?ai|data_?inspection|prohibited_content|^1301$/, 'request'],
  [/overload|over_capacity|at_capacity/, 'transient'],
  [/api_?key_?(invalid|not_valid|expired)|(invalid|incorrect)_api_?key|authentication|unauthori[sz]ed|account_(deactivated|suspended)/, 'source'],
  [/rate_?limit|too_many_requests|resource_?exhausted|throttl|^130[235]$|^1002$/, 'rate_limited'],
];

/** These types come with statuses of many classes, so they tell something only where there is no status. */
const typeRules: typeof codeRules = [
  [/permission|not_found_error/, 'source'],
  [/invalid_request/, 'request'],
];

const emptyAccount = /insufficient (balance|credits?|funds|quota)|credit balance is too low|out of credits?|used all available credits|credits are depleted|spending limit|余额不足|欠费/i;
const missingModel = /\bmodel\b.{0,80}\b(not found|does not exist|not exist)|not a valid model id|unknown model|invalid model name/i;
const tooLong = /maximum context length|context (length|window) (is )?exceeded|prompt is too long/i;
const quotedCode = /['"](?:code|type)['"]\s*:\s*['"]([\w.-]+)['"]/g;

/** The class of a failure (R1): by codes first, by status second, by prose only where it cannot lead to a wait. */
export function failureClass(report: ErrorReport, httpStatus: number): FailureClass {
  const status = httpStatus >= 300 ? httpStatus : report.status;
  const byCode = classOfCodes(report.codes, codeRules);
  if (byCode !== undefined && byCode !== 'rate_limited') return byCode;
  const byProse = classOfProse(report, status);
  // An empty account may bear the code of a rate limit too, and so may a request that is larger than the whole limit.
  if (byCode !== undefined && status !== 413) return byProse === 'source' ? byProse : byCode;
  return byProse ?? (status === undefined ? 'transient' : classOfStatus(status));
}

function classOfCodes(codes: readonly string[], rules: typeof codeRules): FailureClass | undefined {
  const words = codes.map(normalised);
  return rules.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1];
}

function normalised(code: string): string {
  return code
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
}

function classOfProse({ message, codes, structured }: ErrorReport, status: number | undefined): FailureClass | undefined {
  // A bare text may quote the failures of others.
  if (!structured) return undefined;
  const server = status === undefined || status >= 500;
  if ((server || status === 429 || status === 403) && emptyAccount.test(message)) return 'source';
  if ((status === undefined || status === 400 || status === 422) && missingModel.test(message)) return 'source';
  if (status !== undefined) return undefined;
  if (tooLong.test(message)) return 'request';
  if (codes.length > 0) return classOfCodes(codes, typeRules);
  const quoted = classOfCodes([...message.matchAll(quotedCode)].map(([, code]) => code ?? ''), codeRules);
  return quoted === 'rate_limited' ? undefined : quoted;
}

const sourceStatuses = new Set([401, 402, 403, 404, 405, 407, 410, 421, 426, 451]);
const transientStatuses = new Set([408, 409, 425, 499]);

function classOfStatus(status: number): FailureClass {
  if (status === 429) return 'rate_limited';
  if (status >= 500 || transientStatuses.has(status)) return 'transient';
  return status < 400 || sourceStatuses.has(status) ? 'source' : 'request';
}
