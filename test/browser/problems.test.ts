/** A store that answers, and in which something goes wrong. */

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { serve } from '../support/browser/served.ts';
import { beginStory, type Story } from '../support/browser/story.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';
import { troubled } from '../support/http/troubled.ts';

const problems = ['no snapshot since noon: the disk is full'];
let browser: Browser;
let story: Story;

beforeAll(async () => {
  const backend = troubled(memory(), problems);
  [browser, story] = await Promise.all([openBrowser(), beginStory(backend)]);
});

afterAll(async () => {
  await browser.close();
  await story.close();
});

// F130
it('says so on every screen to who sees all of it, until it is over', async () => {
  const served = await serve(story.loom);
  const tab = await WatchedPage.open(browser, served.base);
  for (const screen of ['overview', 'tasks?where=state:finished', 'workers']) {
    await tab.go(screen);
    await tab.sees('no snapshot since noon: the disk is full');
  }
  expect(await tab.violations()).toEqual([]);
  expect(await tab.overflow()).toBeLessThanOrEqual(0);
  problems.length = 0;
  await tab.page.getByRole('alert').waitFor({ state: 'detached' });
  expect(await tab.faults()).toEqual([]);
  await tab.close();
  await served.stop();
  problems.push('no snapshot since noon: the disk is full');
  const limited = await serve(story.loom, { access: () => ({ can: ['read'], users: ['acme'] }) });
  const theirs = await WatchedPage.open(browser, limited.base);
  await theirs.go('overview');
  await theirs.sees('Yours');
  expect(await theirs.page.getByText('snapshot').count()).toBe(0);
  await theirs.close();
  await limited.stop();
});
