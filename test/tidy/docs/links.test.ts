/** Links between pages lead somewhere. */
import { expect, it } from 'vitest';
import { docPages } from '../../support/docs/doc-blocks.ts';
import { filesBelow, read, trackedFiles } from '../../support/files.ts';

/** Pictures are no text. */
const tracked = new Set([...trackedFiles(), ...filesBelow('docs/assets', /\.png$/)]);

/** A heading as the hosts of repositories turn it into an anchor. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsOf(page: string): ReadonlySet<string> {
  return new Set(
    [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text.trim())),
  );
}

/** Targets of relative links that do not exist. */
function broken(page: string): readonly string[] {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : new URL(path, `file:///${page}`).pathname.slice(1);
      const isFolder = [...tracked].some((one) => one.startsWith(`${file.replace(/\/$/, '')}/`));
      if (!tracked.has(file)) return !isFolder;
      return anchor !== undefined && !anchorsOf(file).has(anchor);
    })
    .map((target) => `${page}: ${target}`);
}

it('every link of a page leads to a file and a heading', () => {
  expect(docPages().flatMap(broken)).toEqual([]);
});
