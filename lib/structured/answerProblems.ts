import type { AnswerProblem } from '../model/errors.js';
import { firstOf } from '../model/firstOf.js';
import type { StandardIssue } from './standardSchema.js';

export function answerProblems(issues: readonly StandardIssue[]): AnswerProblem[] {
  return issues.map(({ message, path = [] }) => ({ path: path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'), message }));
}

/** For a model to read: the first of them. */
export function problemList(problems: readonly AnswerProblem[]): string {
  return firstOf(problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))).map((line) => `- ${line}`).join('\n');
}
