/** Stored texts are shown as texts: nothing of them runs, on any screen. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

/** Ways to get out of text, attribute, address, style and script. */
const CORPUS = [
  '<script>attack()</script>',
  '"><img src=x onerror=attack()>',
  "'><svg/onload=attack()>",
  'javascript:attack()',
  '</title><iframe srcdoc="<script>parent.attack()</script>">',
  '{{attack()}}<%attack()%>',
  '<a href="javascript:attack()">x</a>',
  '\u202Egnp.exe<style>*{display:none}</style>',
];
const ALL = CORPUS.join(' ');
const FEW = '"><img src=x onerror=attack()>';

/** Saved names and filters. */
const VIEWS = CORPUS.map((text) => ({ name: text, where: text }));

let browser: Browser;
let loom: Fairloom;
let served: Served;
let failed: string;

const bad = task('bad', { retries: 0 }, async (_input: unknown, ctx) => {
  ctx.log.error(ALL, { [FEW]: ALL });
  await ctx.progress(0.5, FEW);
  const error = new TypeError(ALL, { cause: new Error(ALL) });
  error.name = FEW;
  throw error;
});
const asks = task('asks', async (_input: unknown, ctx) =>
  ctx.ask({ title: FEW, choices: ['yes', 'no'], for: [FEW] }),
);

beforeAll(async () => {
  loom = new Fairloom({ backend: memory(), tasks: [bad, asks], log: silentLogger });
  await loom.worker({ concurrency: 4 }).start();
  for (const user of CORPUS) {
    await loom.enqueue(bad, { [FEW]: [ALL, { [ALL]: ALL }] }, { user });
    await loom.enqueue(asks, FEW, { user });
  }
  const one = await loom.enqueue(bad, ALL, { id: FEW, user: FEW });
  failed = one.id;
  await one.result().catch(() => undefined);
  while ((await loom.asks.list()).items.length < CORPUS.length) await pause(5);
  browser = await openBrowser();
  served = await serve(loom);
});

afterAll(async () => {
  await browser.close();
  await served.stop();
  await loom.close({ timeout: 0 });
});

it('nothing that is stored runs on any screen', async () => {
  const tab = await WatchedPage.open(browser, served.base, {
    before: `globalThis.attacks = 0; globalThis.attack = () => { globalThis.attacks += 1; };
      localStorage.setItem('fairloom.views:/internal/queue/', ${JSON.stringify(JSON.stringify(VIEWS))});`,
  });
  const id = encodeURIComponent(failed);
  const user = encodeURIComponent(FEW);
  const screens = ['overview', 'users', `users/${user}`, 'tasks', `tasks/${id}`, 'dead', 'asks'];
  for (const screen of [
    ...screens,
    'audit',
    `tasks?where=${user}`,
    `runs/${id}`,
    `${user}/${user}`,
  ]) {
    await tab.go(screen);
    await tab.page.locator('main h2, main p').first().waitFor();
    expect(await tab.page.locator('main img, main iframe, main script, main style').count()).toBe(
      0,
    );
    expect(await tab.page.locator('a[href^="javascript"]').count()).toBe(0);
  }
  await tab.go('tasks');
  const saved = tab.page.getByRole('list', { name: 'Saved views' });
  expect((await saved.getByRole('link').allTextContents()).sort()).toEqual([...CORPUS].sort());
  for (const key of ['Control+k', 'v']) {
    await tab.page.keyboard.press(key);
    await tab.page.locator('dialog input:focus').waitFor();
    expect(await tab.page.locator('dialog :is(img, iframe, script, style)').count()).toBe(0);
    await tab.page.keyboard.press('Escape');
    await tab.page.locator('dialog').waitFor({ state: 'detached' });
  }
  expect(await tab.page.evaluate('globalThis.attacks')).toBe(0);
  const own = (await tab.faults()).filter((text) => !/status of 40[04]/.test(text));
  expect(own).toEqual([]);
  await tab.close();
});
