/** The layers of the tests, in the order in which they run: every *.test.ts below test/<name>/. */
export interface Layer {
  readonly name: string;
  /** Gets a server and `inject('redisUrl')`. */
  readonly redis: boolean;
  /** Runs dist/ in child processes. */
  readonly built: boolean;
}

export const LAYERS: readonly Layer[] = [
  { name: 'domain', redis: false, built: false },
  { name: 'workflow', redis: false, built: false },
  { name: 'tidy', redis: false, built: false },
  { name: 'types', redis: false, built: false },
  { name: 'config', redis: true, built: false },
  { name: 'engine', redis: true, built: false },
  { name: 'contract', redis: true, built: false },
  { name: 'model', redis: true, built: false },
  { name: 'redis', redis: true, built: false },
  { name: 'cli', redis: true, built: true },
  { name: 'instructions', redis: false, built: true },
  { name: 'examples', redis: true, built: true },
  { name: 'e2e', redis: true, built: true },
  { name: 'node-versions', redis: false, built: true },
];
