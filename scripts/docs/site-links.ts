/**
 * Exits 1 when a link of the built site leads to a page or a heading that does not exist. VitePress
 * checks only pages, and the API reference depends on anchors.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { ROOT } from '../run.ts';

const SITE = `${ROOT}temp/site/`;
/** Files of the repository that the pages name and the site does not have. */
const BESIDE = /^\.\/(?:\.\.\/)?(?:adr\/|acl\.example$)|^\.\.\//;
const ASSET = /\.(?:css|js|json|svg|png|ico|woff2?)$/;

interface SitePage {
  /** Its path, from the root, without the extension. */
  readonly path: string;
  readonly html: string;
  /** Possible targets of an anchor. */
  readonly ids: ReadonlySet<string>;
}

const pages = new Map(readPages().map((page) => [page.path, page]));
let links = 0;
const dead = [...pages.values()].flatMap(deadLinks);
for (const link of new Set(dead)) console.error(`dead link: ${link}`);
if (dead.length > 0 || links === 0) process.exitCode = 1;
else console.log(`${links} links lead to a page and a heading`);

function readPages(): readonly SitePage[] {
  return readdirSync(SITE, { recursive: true })
    .map((file) => String(file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.html'))
    .map((file) => {
      const html = readFileSync(`${SITE}${file}`, 'utf8');
      const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id);
      return { path: `/${file.replace(/(?:index)?\.html$/, '')}`, html, ids: new Set(ids) };
    });
}

function deadLinks({ path, html }: SitePage): readonly string[] {
  const targets = [...html.matchAll(/<a\s[^>]*?href="([^"]+)"/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target) && !BESIDE.test(target))
    .filter((target) => {
      links += 1;
      const { pathname, hash } = new URL(target, `file://${path}`);
      if (ASSET.test(pathname)) return false;
      const ids = pages.get(pathname)?.ids;
      return ids === undefined || (hash !== '' && !ids.has(decodeURIComponent(hash.slice(1))));
    })
    .map((target) => `${path} -> ${target}`);
}
