// npm run example:mapreduce -- --files 20
// npm run example:mapreduce -- --files 20 --redis redis://localhost:6379
//
// Counts the words of n files: `each` makes one task per file, and one more adds up their
// counts. The text comes from this package's pages, split into n files in a temporary folder.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { each, Fairloom, task } from 'fairloom';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';

const { files: wanted, redis } = optionsOf({ files: { type: 'string', default: '8' } });
const count = Number(wanted);
if (!Number.isInteger(count) || count < 1 || count > 1_000) {
  throw new Error(`--files is a number from 1 to 1000, not ${wanted}`);
}

const map = task('map', async (/** @type {string} */ file) => tally(await readFile(file, 'utf8')));

const reduce = task('reduce', async (/** @type {Record<string, number>[]} */ parts) => {
  const sums = new Map();
  for (const [word, times] of parts.flatMap(Object.entries)) {
    sums.set(word, (sums.get(word) ?? 0) + times);
  }
  return totalsOf(sums);
});

const wordCount = each(map).pipe(reduce).as('word-count');
const folder = await mkdtemp(join(tmpdir(), 'word-count-'));
try {
  const { files, text } = await deal(count);
  const loom = new Fairloom({ backend: backendOf(redis), tasks: [wordCount] });
  await loom.worker().start();
  const run = await loom.enqueue(wordCount, files, { user: 'acme' });
  const totals = await run.result({ timeout: PATIENCE });
  await loom.close();

  const plain = totalsOf(new Map(Object.entries(tally(text))));
  const same = JSON.stringify(totals) === JSON.stringify(plain);
  if (!same) process.exitCode = 1;
  const { words, different, top } = totals;
  console.log(`most frequent: ${top.map(([word, times]) => `${word} ${times}`).join(', ')}`);
  console.log(
    `${files.length} files: ${words} words, ${different} different; ${same ? 'same as' : 'UNLIKE'} a loop`,
  );
} finally {
  await rm(folder, { recursive: true });
}

/** Every n-th line of the pages to each of n files. */
async function deal(n) {
  const docs = new URL('../../docs/', import.meta.url);
  const pages = (await readdir(docs)).filter((page) => page.endsWith('.md'));
  const texts = await Promise.all(pages.map((page) => readFile(new URL(page, docs), 'utf8')));
  const text = texts.join('\n');
  const lines = text.split('\n');
  const files = Array.from({ length: n }, (_none, at) => join(folder, `${at}.txt`));
  await Promise.all(
    files.map((file, at) => writeFile(file, lines.filter((_, row) => row % n === at).join('\n'))),
  );
  return { files, text };
}

/** How often each word stands in a text. Words are letters; case does not matter. */
function tally(text) {
  const counts = new Map();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function totalsOf(sums) {
  const words = [...sums.values()].reduce((sum, times) => sum + times, 0);
  const byRank = ([a, x], [b, y]) => y - x || (a < b ? -1 : 1);
  return { words, different: sums.size, top: [...sums].sort(byRank).slice(0, 5) };
}
