/** The pages of the API reference, which scripts/docs/api-doc.ts writes, and their contents. */

export interface ApiPage {
  /** File name, without the extension. */
  readonly name: string;
  readonly title: string;
  /** The entry point to import from. */
  readonly from: string;
  /** The file of that entry point. */
  readonly entry: string;
  /** Its sources on this page; the first page that matches has them. Default: all. */
  readonly sources?: RegExp;
}

const MAIN = { from: 'fairloom', entry: 'src/index.ts' };

/** In the order of the sidebar. */
export const API_PAGES: readonly ApiPage[] = [
  {
    ...MAIN,
    name: 'client',
    title: 'Client and workers',
    sources:
      /^\.\/(?:client|core|enqueue|events|handlers|logging|worker)\/(?!.*\b(?:runs|graphs|schedules|scheduler)-)/,
  },
  { ...MAIN, name: 'steps', title: 'Tasks and steps', sources: /^\.\/workflow\// },
  { ...MAIN, name: 'runs', title: 'Runs', sources: /^\.\/(?:runs|graph)\/|(?:runs|graphs)-facade/ },
  { ...MAIN, name: 'schedules', title: 'Schedules', sources: /schedule/ },
  { ...MAIN, name: 'errors', title: 'Errors', sources: /errors\/|errors?\.ts$/ },
  {
    ...MAIN,
    name: 'backend',
    title: 'Backends',
    sources: /^\.\/(?:backends\/|domain\/port\/|backend\.ts$)/,
  },
  { ...MAIN, name: 'terms', title: 'Terms' },
  { name: 'file', title: 'Data folder', from: 'fairloom/file', entry: 'src/file.ts' },
  { name: 'redis', title: 'Redis', from: 'fairloom/redis', entry: 'src/redis.ts' },
  { name: 'config', title: 'Configuration', from: 'fairloom/config', entry: 'src/config.ts' },
  { name: 'metrics', title: 'Metrics', from: 'fairloom/metrics', entry: 'src/metrics.ts' },
  { name: 'tracing', title: 'Tracing', from: 'fairloom/tracing', entry: 'src/tracing.ts' },
  { name: 'http', title: 'HTTP', from: 'fairloom/http', entry: 'src/http.ts' },
  { name: 'types', title: 'Parts of signatures', from: 'fairloom/types', entry: 'src/types.ts' },
  { name: 'port', title: 'The port', from: 'fairloom/backend', entry: 'src/backend.ts' },
  {
    name: 'conformance',
    title: 'Tests of a backend',
    from: 'fairloom/conformance',
    entry: 'src/conformance.ts',
  },
  { name: 'testing', title: 'Testing', from: 'fairloom/testing', entry: 'src/testing.ts' },
];
