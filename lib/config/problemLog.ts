import { ConfigError } from '../model/errors.js';
import { maskSecrets } from '../model/mask.js';
import type { Finding } from './settings.js';
import { shownValue } from './shownValue.js';

/** Gathers what is wrong and what is doubtful, so that it is told all at once, with the known secrets masked. */
export interface ProblemLog {
  readonly findings: readonly Finding[];
  readonly refuse: (problem: string) => void;
  readonly warn: (finding: Omit<Finding, 'level'>) => void;
  /** A value as it may stand in a message. */
  readonly show: (value: unknown) => string;
  readonly throwIfRefused: () => void;
}

/** `secrets` never appear in what the log says. */
export function createProblemLog(secrets: readonly string[]): ProblemLog {
  const problems: string[] = [];
  const findings: Finding[] = [];
  const mask = (text: string): string => maskSecrets(text, secrets);

  return {
    findings,
    refuse: (problem) => problems.push(mask(problem)),
    warn: (finding) => findings.push({ level: 'warning', ...finding, message: mask(finding.message) }),
    show: (value) => shownValue(value, secrets),
    throwIfRefused: () => {
      if (problems.length > 0) throw new ConfigError(problems);
    },
  };
}
