/** What is changed on the page with words or figures of one's own, on both backends. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { redis } from '../../src/redis.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

const BACKENDS = {
  memory: () => memory(),
  redis: () => redis(inject('redisUrl'), { prefix: `changes-${process.pid}` }),
};

interface Order {
  readonly width: number;
  readonly card?: { readonly number: string };
}

const measure = task('measure', async (order: Order) => order.width);
const cut = task('cut', { retries: 0 }, async (width: number) => {
  if (width < 10) throw new RangeError(`width ${width} is not above 9`);
  return width * 2;
});
const order = measure.pipe(cut).as('order');

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

describe.each(['memory', 'redis'] as const)('on %s', (name) => {
  let loom: Fairloom;
  let served: Served;
  let tab: WatchedPage;
  let failed: string;

  beforeAll(async () => {
    loom = new Fairloom({ backend: BACKENDS[name](), tasks: [order], log: silentLogger });
    await loom.worker({ id: 'w', concurrency: 4 }).start();
    served = await serve(loom, { redact: ['card.*'] });
    tab = await WatchedPage.open(browser, served.base, { viewport: { width: 390, height: 844 } });
    const run = await loom.enqueue(order, { width: 7 }, { user: 'acme' });
    await run.result().catch(() => undefined);
    failed = run.id;
  });
  afterAll(async () => {
    expect(await tab.faults()).toEqual([]);
    await tab.close();
    await served.stop();
    await loom.close({ timeout: 0 });
  });

  /** Also by the keyboard. */
  const refused = async (button: string): Promise<void> => {
    const found = tab.page.locator('dialog').getByRole('button', { name: button, exact: true });
    expect(await found.getAttribute('aria-disabled')).toBe('true');
    await found.press('Enter');
    expect(await tab.page.locator('dialog').count()).toBe(1);
  };

  it('runs a run again with another input, which has to be JSON', async () => {
    await tab.go(`runs/${failed}`);
    await tab.press('Run again…');
    const input = tab.page.getByLabel('Input, as JSON');
    expect(await input.inputValue()).toBe('{\n  "width": 7\n}');
    await tab.sees(`fairloom runs rerun ${failed}`);
    await input.fill('{\n  "width": oops\n}');
    await tab.sees(/^Line 2, column 12: /);
    expect(await tab.violations()).toEqual([]);
    await refused('Run again');
    await input.fill('{ "width": 12 }');
    await tab.sees(`fairloom runs rerun --input '{"width":12}' ${failed}`);
    await tab.confirm('Run again');
    await tab.page.locator('.chip', { hasText: 'finished' }).waitFor();
    const id = decodeURIComponent(tab.page.url().split('/runs/')[1] ?? '');
    expect(id).not.toBe(failed);
    expect(await loom.runs.get(id)).toMatchObject({ input: { width: 12 }, result: 24 });
  });

  it('runs a run again from one of its nodes', async () => {
    await tab.go(`runs/${failed}`);
    await tab.press('Run again…');
    await tab.page.getByLabel('From', { exact: true }).selectOption('cut');
    await tab.page.getByLabel('Input of cut, as JSON').fill('30');
    await tab.sees(`fairloom runs rerun --from cut --input 30 ${failed}`);
    await tab.confirm('Run again');
    await tab.page.locator('.chip', { hasText: 'finished' }).waitFor();
    const id = decodeURIComponent(tab.page.url().split('/runs/')[1] ?? '');
    expect((await loom.runs.get(id))?.result).toBe(60);
  });

  it('resumes a run with another input of the node that failed', async () => {
    await tab.go(`runs/${failed}`);
    await tab.press('Resume…');
    await tab.page.getByLabel('Input of cut, as JSON').fill('15');
    await tab.sees(`fairloom runs resume --node cut --input 15 ${failed}`);
    await tab.confirm('Resume');
    await tab.page.locator('.chip', { hasText: 'finished' }).waitFor();
    expect((await loom.runs.get(failed))?.result).toBe(30);
  });

  it('enqueues a task again with another input, once all of it is known', async () => {
    const before = await loom.enqueue(measure, { width: 3, card: { number: '4111' } });
    await before.result();
    await tab.go(`tasks/${before.id}`);
    await tab.press('Enqueue again…');
    await tab.sees(/put values where "\[redacted\]" stands/);
    await refused('Enqueue again');
    const input = tab.page.getByLabel('Input, as JSON');
    await input.fill('{"width": 4}');
    await tab.sees(
      `fairloom enqueue --user default --queue default --priority normal measure '{"width":4}'`,
    );
    await tab.confirm('Enqueue again');
    await tab.page.locator('h2.big', { hasText: 'measure' }).waitFor();
    await expect.poll(() => tab.page.url()).not.toContain(before.id);
    const id = decodeURIComponent(tab.page.url().split('/tasks/')[1] ?? '');
    await expect.poll(async () => (await loom.tasks.get(id))?.result).toBe(4);
  });
});
