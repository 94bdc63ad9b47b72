import { type DefaultTheme, defineConfig } from 'vitepress';
import { API_PAGES } from '../../scripts/docs/api-pages.ts';
import { diagram } from './diagrams.ts';
import { GUIDES, INSIDE, REFERENCE, type Shelf, titleOf } from './shelves.ts';

const API: DefaultTheme.SidebarItem = {
  text: 'API',
  items: API_PAGES.map(({ name, title }) => ({ text: title, link: `/api/${name}` })),
};

export default defineConfig({
  title: 'Fairloom',
  description: 'A fair, multi-user task queue and workflow engine for Node',
  head: [['link', { rel: 'icon', href: '/logo.svg', type: 'image/svg+xml' }]],
  cleanUrls: true,
  outDir: '../temp/site',
  cacheDir: '../temp/site-cache',
  // Pages about the repository are not part of the site.
  srcExclude: ['adr/**'],
  // The pages are also read in the repository, where these targets are files.
  ignoreDeadLinks: [/^\.\/(?:\.\.\/)?adr\//, /acl\.example$/, /^\.\.\//],
  // The search index is one file, loaded with the first search.
  vite: { build: { chunkSizeWarningLimit: 5_000 } },
  markdown: {
    config: (md) => {
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, at, ...more) => {
        const token = tokens[at];
        if (token?.info.trim() === 'mermaid') return diagram(token.content);
        return fence?.(tokens, at, ...more) ?? '';
      };
    },
  },
  themeConfig: {
    logo: '/logo.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide/tutorial', activeMatch: '^/guide/' },
      { text: 'Promises', link: '/delivery' },
      { text: 'Reference', link: '/cli' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Inside', link: '/architecture' },
    ],
    sidebar: {
      '/guide/': shelvesOf(GUIDES),
      '/api/': [API],
      ...Object.fromEntries(
        INSIDE.flatMap(({ pages }) => pages).map((page) => [`/${page}`, shelvesOf(INSIDE)]),
      ),
      '/': shelvesOf(REFERENCE),
    },
  },
});

function shelvesOf(shelves: readonly Shelf[]): DefaultTheme.SidebarItem[] {
  return shelves.map(({ title, pages }) => ({
    text: title,
    items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
  }));
}
