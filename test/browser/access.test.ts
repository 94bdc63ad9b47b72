/** Who may look only, who sees its own users only, and who has to say who it is. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { serve } from '../support/browser/served.ts';
import { beginStory, type Story } from '../support/browser/story.ts';
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

it('a reader sees the commands, and can press nothing', async () => {
  const served = await serve(story.loom, { access: () => 'read' });
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go(`tasks/${story.ids.failed}`);
  await tab.sees('You may look at everything, and change nothing.');
  const redrive = tab.page.getByRole('button', { name: /Redrive/ });
  await expect.poll(() => redrive.getAttribute('aria-disabled')).toBe('true');
  await tab.page.keyboard.press('Shift+R');
  expect(await tab.page.locator('dialog').count()).toBe(0);
  await tab.sees(`fairloom tasks redrive ${story.ids.failed}`);
  expect(await tab.faults()).toEqual([]);
  await tab.close();
  await served.stop();
});

it('a customer sees its own users, and no screen of all', async () => {
  const served = await serve(story.loom, {
    access: () => ({ can: ['read'], users: ['acme'] }),
  });
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go('overview');
  await tab.sees('Yours');
  const screens = await tab.page.locator('.nav a').allTextContents();
  expect(screens).toEqual(['Users', 'Tasks', 'Runs', 'Dead letters', 'Schedules', 'Approvals']);
  await tab.press(/^acme/);
  await tab.sees('Weight and limits');
  expect(await tab.page.locator('main', { hasText: 'bolt' }).count()).toBe(0);
  expect(await tab.violations()).toEqual([]);
  expect(await tab.faults()).toEqual([]);
  await tab.go('tasks?where=state:queued');
  const views = tab.page.getByRole('navigation', { name: 'Views' });
  await expect.poll(() => views.getByText('Running').textContent()).toMatch(/^Running\d$/);
  await expect.poll(() => views.getByText('Finished').textContent()).toBe('Finished');
  expect(await tab.page.getByText(/^Pick all/).count()).toBe(0);
  await tab.go('dead');
  await tab.sees(/2 dead letters with 2 kinds of error/);
  await tab.press(/transcode/);
  await tab.sees('a.mov');
  expect(await tab.page.getByRole('button', { name: /Redrive|Remove/ }).count()).toBe(0);
  expect(await tab.page.locator('main', { hasText: 'b.mov' }).count()).toBe(0);
  expect(await tab.violations()).toEqual([]);
  await tab.go('workers');
  await tab.sees('Nothing is here');
  await tab.close();
  await served.stop();
});

it('a caller that is refused is asked for a token, and comes in with it', async () => {
  const served = await serve(story.loom, {
    access: ({ headers }) => (headers.get('authorization') === 'Bearer secret' ? 'all' : 'deny'),
  });
  const tab = await WatchedPage.open(browser, served.base);
  await tab.page.goto(served.base);
  await tab.page.getByLabel('Token').fill('secret');
  expect(await tab.violations()).toEqual([]);
  await tab.press('Come in');
  await tab.sees('Needs a look');
  await tab.sees('Live');
  await tab.close();
  await served.stop();
});
