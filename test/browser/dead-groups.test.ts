/** Error groups of which there are more than a page. */

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { Fatal } from '../../src/domain/errors/handler-errors.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { serve } from '../support/browser/served.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

/** More than a page of the dashboard has. */
const GROUPS = 60;

const fail = task('fail', async (words: string) => {
  throw new Fatal(words);
});
const loom = new Fairloom({ backend: memory(), tasks: [fail], log: silentLogger });
let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
  const worker = loom.worker();
  await worker.start();
  const failing = Array.from({ length: GROUPS }, async (_, at) => {
    // Words, since groups do not tell numbers apart.
    const words = [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    const handle = await loom.enqueue(fail, `no ${words} here`);
    await handle.result().catch(() => undefined);
  });
  await Promise.all(failing);
});

afterAll(async () => {
  await browser.close();
  await loom.close();
});

it('are shown page by page', async () => {
  const served = await serve(loom, { access: () => 'all' });
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go('dead');
  const rows = tab.page.locator('ul.dead > li');
  await tab.sees(/The latest: \d+ dead letters with/);
  expect(await rows.count()).toBeLessThan(GROUPS);
  await tab.press('Show more');
  await expect.poll(() => rows.count()).toBe(GROUPS);
  await tab.sees(`${GROUPS} dead letters with ${GROUPS} kinds of error`);
  expect(await tab.page.getByText('The latest:').count()).toBe(0);
  expect(await tab.violations()).toEqual([]);
  expect(await tab.faults()).toEqual([]);
  await tab.close();
  await served.stop();
});
