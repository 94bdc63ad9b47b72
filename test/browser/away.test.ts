/** The server goes, and comes back: the last readings stay, and can be seen to be old. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { beginStory, resize, type Story } from '../support/browser/story.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

let browser: Browser;
let story: Story;
let served: Served;

beforeAll(async () => {
  [browser, story] = await Promise.all([openBrowser(), beginStory(memory())]);
  served = await serve(story.loom);
});

afterAll(async () => {
  await browser.close();
  await served.stop();
  await story.close();
});

it('keeps what was read, says since when, and goes on by itself', async () => {
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go('tasks?where=state:finished');
  await tab.sees('northwind');
  await served.stop();
  await tab.sees(/The store is away/);
  await tab.sees('northwind');
  await expect.poll(() => tab.page.locator('main.is-stale').count()).toBe(1);
  await story.loom.enqueue(resize, 1, { user: 'newcomer', queue: 'mails' });
  await served.start();
  await tab.page.getByRole('alert').waitFor({ state: 'detached' });
  await tab.sees('newcomer');
  expect(await tab.page.locator('main.is-stale').count()).toBe(0);
  await tab.close();
});

it('counts ages by the clock of the server', async () => {
  const tab = await WatchedPage.open(browser, served.base, {
    before: 'const now = Date.now; Date.now = () => now() + 86_400_000;',
  });
  await tab.go('tasks?where=state:finished');
  const age = tab.page.locator('tr', { hasText: 'newcomer' }).locator('.c-age');
  await expect.poll(() => age.textContent()).toMatch(/^(\d+\u202Fms|[\d.]+\u202Fs)$/);
  await tab.close();
});

const HIDE = `
  globalThis.isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => globalThis.isHidden });
`;
const TURN = 'isHidden = !isHidden; document.dispatchEvent(new Event("visibilitychange"));';

describe('a page that is not looked at', () => {
  it.each([
    ['it is stopped', (tab: WatchedPage) => tab.page.keyboard.press('.')],
    ['its tab is hidden', (tab: WatchedPage) => tab.page.evaluate(TURN)],
  ])('nothing is asked for while %s', async (_, turn) => {
    const tab = await WatchedPage.open(browser, served.base, { before: HIDE });
    await tab.page.clock.install();
    const requests: string[] = [];
    await tab.go('users');
    await turn(tab);
    // What was asked before may end still.
    await tab.page.waitForLoadState('networkidle');
    tab.page.on('request', (request) => requests.push(request.url()));
    await tab.page.clock.runFor('01:00');
    expect(requests).toEqual([]);
    await turn(tab);
    await tab.page.clock.runFor('00:05');
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    await tab.close();
  });
});
