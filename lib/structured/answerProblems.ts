import type { AnswerProblem } from '../model/errors.js';
import type { StandardIssue } from './standardSchema.js';

export function answerProblems(issues: readonly StandardIssue[]): AnswerProblem[] {
  return issues.map(({ message, path = [] }) => ({ path: path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'), message }));
}

/** For a model to read. */
export function problemList(problems: readonly AnswerProblem[]): string {
  return problems.map(({ path, message }) => (path === '' ? `- ${message}` : `- ${path}: ${message}`)).join('\n');
}
