import { defineConfig } from 'vitepress';

/** The pages by shelf. `test/tidy/site.test.ts` holds it to the files. */
const SHELVES = [
  ['Start', ['tutorial', 'when-not', 'coming-from']],
  [
    'Guides',
    ['fairness', 'delivery', 'workflows', 'schedules', 'handlers', 'testing', 'production'],
  ],
  [
    'Reference',
    ['cli', 'configuration', 'errors', 'events', 'metrics', 'tracing', 'lifecycle', 'limits'],
  ],
  ['Inside', ['architecture', 'mechanics', 'redis-layout', 'performance', 'reliability']],
] as const;

export default defineConfig({
  title: 'Fairloom',
  description: 'A fair, multi-user task queue and workflow engine for Node',
  cleanUrls: true,
  outDir: '../temp/site',
  cacheDir: '../temp/site-cache',
  // What is about the repository stays there.
  srcExclude: ['adr/**'],
  // The pages are read in the repository too, where these are files.
  ignoreDeadLinks: [/^\.\/adr\//, /acl\.example$/, /^\.\.\//],
  themeConfig: {
    search: { provider: 'local' },
    sidebar: SHELVES.map(([text, pages]) => ({
      text,
      items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
    })),
  },
});

function titleOf(page: string): string {
  const words = page.replaceAll('-', ' ');
  return page === 'cli' ? 'Command line' : words[0]?.toUpperCase() + words.slice(1);
}
