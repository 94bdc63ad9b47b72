/** The pages of the site by shelf, in their order. */

/** Some pages under one heading. */
export interface Shelf {
  readonly title: string;
  /** Paths below docs/, without the end. */
  readonly pages: readonly string[];
}

/** For users who build an application. */
export const GUIDES: readonly Shelf[] = [
  { title: 'Start', pages: ['guide/tutorial', 'guide/when-not', 'guide/coming-from'] },
  {
    title: 'Tasks',
    pages: [
      'guide/users',
      'guide/priorities',
      'guide/retries',
      'guide/schedules',
      'guide/handlers',
      'guide/streams',
      'guide/versions',
    ],
  },
  {
    title: 'Workflows',
    pages: ['guide/workflows', 'guide/dependencies', 'guide/waiting', 'guide/xcom'],
  },
  {
    title: 'Running it',
    pages: [
      'guide/dashboard',
      'guide/searching',
      'guide/testing',
      'guide/recipes',
      'guide/encryption',
      'guide/deployment',
      'guide/production',
      'guide/troubleshooting',
    ],
  },
];

/** For users who look up a detail. */
export const REFERENCE: readonly Shelf[] = [
  {
    title: 'Promises',
    pages: ['fairness', 'delivery', 'reliability', 'durability', 'performance'],
  },
  {
    title: 'Reference',
    pages: [
      'cli',
      'cli-output',
      'http',
      'configuration',
      'errors',
      'events',
      'metrics',
      'tracing',
      'lifecycle',
      'limits',
      'glossary',
    ],
  },
];

/** For contributors, and users who inspect the store. */
export const INSIDE: readonly Shelf[] = [
  { title: 'Inside', pages: ['architecture', 'mechanics', 'redis-layout', 'file-format'] },
];

/** Titles of pages whose file name is unclear. */
const TITLES: Readonly<Record<string, string>> = {
  cli: 'Command line',
  'cli-output': 'Output for programs',
  http: 'HTTP API',
  'file-format': 'Files of a data folder',
  'guide/users': 'Users and weights',
  'guide/xcom': 'XCom',
  'guide/searching': 'Finding and changing tasks',
  'guide/streams': 'Streams and logs',
  'guide/retries': 'Retries and idempotency',
};

/** The title of a page. */
export function titleOf(page: string): string {
  const words = page.replace(/^guide\//, '').replaceAll('-', ' ');
  return TITLES[page] ?? words[0]?.toUpperCase() + words.slice(1);
}
