/** The error of the first family that configuration has: it tells everything at once. */
import { CodedError } from './fairloom-error.ts';

/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** The option, as `workers[0].concurrency`; empty for a file as a whole. */
  readonly path: string;
  /** What should stand there, in words. */ readonly expected: string;
  /** What stands there, in words; a secret is masked. */ readonly got: string;
  /** Where it comes from: `fairloom.yaml:3:12`, `FAIRLOOM_REDIS_URL`, `--redis`, `code`. */
  readonly source: string;
  /** The file, when it comes from one. */ readonly file?: string | undefined;
  /** From 1. */ readonly line?: number | undefined;
  /** From 1. */ readonly column?: number | undefined;
  /** What may have been meant. */ readonly hint?: string | undefined;
}

/** Problems that a message lists; the others are in `problems`. */
const SHOWN_PROBLEMS = 20;

/** A configuration is not what the documentation asks for. Nothing was started. */
export class ConfigError extends CodedError<'INVALID_CONFIG'> {
  /** All that is wrong, at least one, in the order of the options. */
  readonly problems: readonly ConfigProblem[];
  constructor(problems: readonly ConfigProblem[]) {
    super('INVALID_CONFIG', messageFor(problems));
    this.problems = problems;
  }
}

function messageFor(problems: readonly ConfigProblem[]): string {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(lineOf);
  const [first = 'the configuration cannot be used'] = lines;
  if (lines.length < 2) return first;
  const more = problems.length - lines.length;
  const rest = more > 0 ? [`and ${more} more`] : [];
  return [`${problems.length} problems in the configuration`, ...lines, ...rest].join('\n  ');
}

function lineOf({ source, path, expected, got, hint }: ConfigProblem): string {
  const where = path === '' ? source : `${source}: ${path}`;
  return `${where}: expected ${expected}, got ${got}${hint === undefined ? '' : `; ${hint}`}`;
}
