/** The page behind a proxy that takes its prefix off. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { serve } from '../support/browser/served.ts';
import { beginStory, type Story } from '../support/browser/story.ts';
import { stripping } from '../support/browser/stripping-proxy.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

let browser: Browser;
let story: Story;

beforeAll(async () => {
  [browser, story] = await Promise.all([openBrowser(), beginStory(memory())]);
});

afterAll(async () => {
  await browser.close();
  await story.close();
});

// F114
it('works below the prefix, and says without its slash what is missing', async () => {
  const served = await serve(story.loom);
  const proxy = await stripping('/tools/queue', served.base);
  const tab = await WatchedPage.open(browser, `${proxy.base}/`);
  await tab.go(`tasks/${story.ids.failed}`);
  await tab.sees(/Redrive/);
  expect(await tab.page.locator('.unfound').count()).toBe(0);
  expect(await tab.faults()).toEqual([]);
  await tab.page.goto(proxy.base);
  const words = tab.page.locator('.unfound');
  await words.waitFor({ state: 'visible' });
  await expect
    .poll(() => words.textContent())
    .toMatch(/slash at the end.*redirect \/prefix to \/prefix\//s);
  tab.forget();
  await tab.close();
  await proxy.stop();
  await served.stop();
});
