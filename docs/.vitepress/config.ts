import { defineConfig } from 'vitepress';
import { API_PAGES } from '../../scripts/docs/api-pages.ts';

/** The pages by shelf. `test/tidy/docs/site.test.ts` holds it to the files. */
const SHELVES = [
  ['Start', ['guide/tutorial', 'guide/when-not', 'guide/coming-from']],
  [
    'Guides',
    [
      'guide/users',
      'guide/priorities',
      'guide/retries',
      'guide/dependencies',
      'guide/workflows',
      'guide/waiting',
      'guide/schedules',
      'guide/xcom',
      'guide/streams',
      'guide/encryption',
      'guide/handlers',
      'guide/testing',
      'guide/searching',
      'guide/recipes',
      'guide/deployment',
      'guide/versions',
      'guide/dashboard',
      'guide/production',
      'guide/troubleshooting',
    ],
  ],
  ['Promises', ['fairness', 'delivery', 'reliability', 'performance']],
  [
    'Reference',
    [
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
  ],
  ['Inside', ['architecture', 'mechanics', 'redis-layout']],
] as const;

/** Where the name of the file says too little. */
const TITLES: Readonly<Record<string, string>> = {
  cli: 'Command line',
  'cli-output': 'Output for programs',
  'guide/users': 'Users and weights',
  'guide/xcom': 'XCom',
  'guide/searching': 'Finding tasks',
  'guide/streams': 'Streams',
  'guide/retries': 'Retries and idempotency',
};

export default defineConfig({
  title: 'Fairloom',
  description: 'A fair, multi-user task queue and workflow engine for Node',
  cleanUrls: true,
  outDir: '../temp/site',
  cacheDir: '../temp/site-cache',
  // What is about the repository stays there.
  srcExclude: ['adr/**'],
  // The pages are read in the repository too, where these are files.
  ignoreDeadLinks: [/^\.\/(?:\.\.\/)?adr\//, /acl\.example$/, /^\.\.\//],
  // The index of the search is one file, which is loaded when somebody searches.
  vite: { build: { chunkSizeWarningLimit: 5_000 } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [
      ...SHELVES.map(([text, pages]) => ({
        text,
        items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
      })),
      {
        text: 'API',
        link: '/api/',
        collapsed: true,
        items: API_PAGES.map(({ name, title }) => ({ text: title, link: `/api/${name}` })),
      },
    ],
  },
});

function titleOf(page: string): string {
  const words = page.replace(/^guide\//, '').replaceAll('-', ' ');
  return TITLES[page] ?? words[0]?.toUpperCase() + words.slice(1);
}
