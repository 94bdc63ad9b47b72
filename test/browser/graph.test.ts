/** The graph of a run: groups of many fold into one box, and open again. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { each, parallel } from '../../src/workflow/parallel.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

/** A group of so many tasks, between two others. */
function wide(name: string, members: number) {
  const parts = Array.from({ length: members }, (_, at) => `${name}-${at}`);
  const all = parts.map((part) => [part, task(part, async (_: unknown) => 1)] as const);
  const group = parallel(Object.fromEntries(all)).as(`${name}-group`);
  const head = task(`${name}-head`, async (_: unknown) => 1);
  const tail = task(`${name}-tail`, async (_: unknown) => 1);
  return head.pipe(group).pipe(tail).as(name);
}

const narrow = wide('narrow', 3);
const many = wide('many', 1_000);
const sleeper = task('sleeper', async (_: number, ctx) => ctx.sleep('1h'));
const elements = each(sleeper).as('elements');

let browser: Browser;
let loom: Fairloom;
let served: Served;
let tab: WatchedPage;
const ids: Record<string, string> = {};

beforeAll(async () => {
  browser = await openBrowser();
  loom = new Fairloom({ backend: memory(), tasks: [elements], log: silentLogger });
  served = await serve(loom);
  tab = await WatchedPage.open(browser, served.base, { viewport: { width: 1_440, height: 900 } });
  await loom.worker({ id: 'w', queues: ['elements'], concurrency: 30 }).start();
  const numbers = Array.from({ length: 20 }, (_, at) => at);
  for (const step of [narrow, many]) ids[step.name] = (await loom.enqueue(step, 1)).id;
  ids['elements'] = (await loom.enqueue(elements, numbers, { queue: 'elements' })).id;
});

afterAll(async () => {
  await browser.close();
  await served.stop();
  await loom.close({ timeout: 0 });
});

const group = (name: string) => tab.page.locator(`[data-group="${name}"]`);

describe('groups of a graph', () => {
  it('of few are open, and fold by the keyboard; the address remembers it', async () => {
    await tab.go(`runs/${ids['narrow']}`);
    const head = group('narrow-group');
    await expect.poll(() => head.getAttribute('aria-expanded')).toBe('true');
    await expect.poll(() => tab.page.locator('.node').count()).toBe(5);
    await head.focus();
    await tab.page.keyboard.press('Enter');
    await tab.sees('3 deferred');
    await expect.poll(() => tab.page.locator('.node').count()).toBe(3);
    await expect
      .poll(() => tab.page.evaluate('document.activeElement.dataset.group'))
      .toBe('narrow-group');
    await tab.page.reload();
    await tab.sees('3 deferred');
    await tab.page.keyboard.press('e');
    await tab.page.locator('.frame').waitFor();
    expect(tab.page.url()).not.toContain('turned');
  });

  it('of a thousand are one box with counts; open, they stand in rows, and the page goes on', async () => {
    await tab.go(`runs/${ids['many']}`);
    await tab.sees('1,000 deferred');
    await expect.poll(() => tab.page.locator('.node').count()).toBe(3);
    expect(await tab.violations()).toEqual([]);
    await tab.page.locator('[data-group]').first().click();
    await tab.page.locator('.cell').nth(999).waitFor();
    await expect.poll(() => tab.page.locator('.cell').count()).toBe(1_000);
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    const link = tab.page.locator('a.cell', { hasText: /^many-17d/ });
    await link.click();
    await tab.page.locator('h2.big', { hasText: /^many-17$/ }).waitFor();
  });

  it('of elements show those that are open, each with its task', async () => {
    await tab.go(`runs/${ids['elements']}`);
    await tab.sees('each, 20 open');
    await tab.page.keyboard.press('e');
    await tab.page.locator('a.cell').nth(19).waitFor();
    expect(await tab.violations()).toEqual([]);
    await tab.go(`runs/${ids['elements']}?view=time`);
    await tab.page.locator('.gantt li').nth(19).waitFor();
    expect(await tab.faults()).toEqual([]);
  });
});
