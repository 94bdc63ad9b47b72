/**
 * Writes `llms.txt` and `llms-full.txt` beside the built site, for programs: the list of pages with a summary of
 * each, and all of them in one text. See llmstxt.org.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { GUIDES, INSIDE, REFERENCE, titleOf } from '../../docs/.vitepress/shelves.ts';
import { ROOT } from '../run.ts';

const SITE = `${ROOT}temp/site/`;

const shelves = [...GUIDES, ...REFERENCE, ...INSIDE];
const pages = new Map(
  shelves.flatMap((shelf) => shelf.pages).map((page) => [page, textOf(`docs/${page}.md`)]),
);
const about = firstParagraph(textOf('README.md'));
const list = shelves.map(({ title, pages: names }) => {
  const rows = names.map((page) => {
    return `- [${titleOf(page)}](/${page}): ${firstParagraph(pages.get(page) ?? '')}`;
  });
  return `## ${title}\n\n${rows.join('\n')}\n`;
});
writeFileSync(`${SITE}llms.txt`, `# Fairloom\n\n> ${about}\n\n${list.join('\n')}`);
writeFileSync(`${SITE}llms-full.txt`, [...pages.values()].join('\n\n'));
console.log(`llms.txt names ${pages.size} pages`);

function textOf(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8');
}

/** In one line, without links. */
function firstParagraph(text: string): string {
  const paragraphs = text.split(/\n\s*\n/).map((one) => one.trim());
  const first = paragraphs.find((one) => one !== '' && !one.startsWith('#')) ?? '';
  return first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
}
