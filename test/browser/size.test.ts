/** What a browser has to fetch before it shows anything. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const ASSETS = new URL('../../dist/dashboard/assets/', import.meta.url);
const PAGE = new URL('../../dist/dashboard/index.html', import.meta.url);
const MOST_KB = 150;

it(`is at most ${MOST_KB} kB of script, as it is sent`, ({ annotate }) => {
  const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
  const bytes = scripts.map((name) => gzipSync(readFileSync(new URL(name, ASSETS))).length);
  const kb = bytes.reduce((sum, size) => sum + size, 0) / 1_000;
  expect(kb).toBeGreaterThan(10);
  expect(kb).toBeLessThan(MOST_KB);
  return annotate(`${kb.toFixed(1)} kB of script`);
});

it('fetches from where it came from, with relative addresses, and has nothing inline', () => {
  const html = readFileSync(PAGE, 'utf8');
  const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
  expect(addresses.length).toBeGreaterThan(2);
  expect(addresses.filter((address) => !address?.startsWith('./'))).toEqual([]);
  expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)/);
});

it('has small pictures in the docs', () => {
  const folder = new URL('../../docs/assets/dashboard/', import.meta.url);
  const sizes = readdirSync(folder).map((name) => statSync(new URL(name, folder)).size);
  expect(sizes.length).toBeGreaterThanOrEqual(5);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(150_000);
});
