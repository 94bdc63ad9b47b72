import type { ProgramName } from './processes/programs.ts';

/** A layer of the tests: every *.test.ts below test/<name>/. */
export interface Layer {
  readonly name: string;
  /** Gets a server and `inject('redisUrl')`. */
  readonly redis: boolean;
  /** Runs dist/ in child processes. */
  readonly built: boolean;
  /** Programs that its tests drive, besides the server that `redis` gives it. */
  readonly programs?: readonly ProgramName[];
}

/** All that these layers need beside Node. */
export function programsOf(layers: readonly Layer[]): readonly ProgramName[] {
  const all = layers.flatMap(({ redis, programs = [] }) =>
    redis ? (['redis', ...programs] as const) : programs,
  );
  return [...new Set(all)];
}

/**
 * In the order in which they run: first those that wait more than they compute, so that something else keeps
 * the cores busy beside them, last those whose files are short, so that none runs alone at the end.
 */
export const LAYERS: readonly Layer[] = [
  { name: 'model', redis: true, built: false },
  { name: 'contract', redis: true, built: false },
  { name: 'e2e', redis: true, built: true },
  { name: 'redis', redis: true, built: false },
  { name: 'node-versions', redis: false, built: true },
  { name: 'browser', redis: true, built: true, programs: ['chromium'] },
  { name: 'cli', redis: true, built: true },
  { name: 'examples', redis: true, built: true },
  { name: 'instructions', redis: false, built: true, programs: ['redis', 'valgrind'] },
  { name: 'engine', redis: true, built: false },
  { name: 'http', redis: true, built: false },
  { name: 'file', redis: true, built: true },
  { name: 'types', redis: false, built: false },
  { name: 'config', redis: true, built: false },
  { name: 'tidy', redis: false, built: false, programs: ['promtool'] },
  { name: 'workflow', redis: false, built: false },
  { name: 'domain', redis: false, built: false },
];
