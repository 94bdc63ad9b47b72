/** What is changed on the page with words or figures of one's own. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

interface Order {
  readonly width: number;
  readonly card?: { readonly number: string };
}

const measure = task('measure', async (order: Order) => order.width);
const cut = task('cut', { retries: 0 }, async (width: number) => {
  if (width < 10) throw new RangeError(`width ${width} is not above 9`);
  return width * 2;
});
const stumble = task(
  'stumble',
  { retries: 1, backoff: { kind: 'fixed', base: '1ms', jitter: 'none' } },
  async (step: number, ctx): Promise<number> => {
    ctx.log.info(`attempt ${ctx.attempt}`);
    throw new Error(`no step ${step}`);
  },
);
const order = measure.pipe(cut).as('order');

let browser: Browser;
let loom: Fairloom;
let served: Served;
let tab: WatchedPage;
let failed: string;

beforeAll(async () => {
  browser = await openBrowser();
  loom = new Fairloom({ backend: memory(), tasks: [order, stumble], log: silentLogger });
  await loom.worker({ id: 'w', concurrency: 4 }).start();
  served = await serve(loom, { redact: ['card.*'] });
  tab = await WatchedPage.open(browser, served.base, { viewport: { width: 390, height: 844 } });
  await loom.users.set('acme', { weight: 2 });
  const run = await loom.enqueue(order, { width: 7 }, { user: 'acme' });
  await run.result().catch(() => undefined);
  failed = run.id;
});
afterAll(async () => {
  expect(await tab.faults()).toEqual([]);
  await tab.close();
  await served.stop();
  await loom.close({ timeout: 0 });
  await browser.close();
});

/** Also by the keyboard. */
const refused = async (button: string): Promise<void> => {
  const found = tab.page.locator('dialog').getByRole('button', { name: button, exact: true });
  await expect.poll(() => found.getAttribute('aria-disabled')).toBe('true');
  await found.press('Enter');
  expect(await tab.page.locator('dialog').count()).toBe(1);
};

it('runs a run again with another input, which has to be JSON', async () => {
  await tab.go(`runs/${failed}`);
  await tab.press('Run again…');
  const input = tab.page.getByLabel('Input, as JSON');
  await expect.poll(() => input.inputValue()).toBe('{\n  "width": 7\n}');
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

it('changes the limits of a queue, which says what that does and is written down', async () => {
  await tab.go('queues');
  await tab.press('Limits');
  const drawer = tab.page.locator('dialog.drawer');
  await drawer.getByLabel('Running at once, at most').fill('0');
  await tab.sees('A whole number from 1 on');
  await tab.sees('Not all of it is right.');
  await drawer.getByLabel('Running at once, at most').fill('9');
  await drawer.getByLabel('Rate', { exact: true }).fill('100/1m');
  await drawer.getByLabel('Weight of users without settings of their own').fill('2.5');
  await tab.sees('0 run now, 9 more may start.');
  expect(await tab.violations()).toEqual([]);
  expect(await tab.overflow()).toBeLessThanOrEqual(0);
  await tab.press('Change…');
  await tab.sees('fairloom queues set --max-running 9 --rate 100/1m --user-weight 2.5 default');
  await tab.confirm('Change');
  const settings = async () => (await loom.queues.get('default'))?.settings;
  await expect.poll(async () => (await settings())?.maxRunning).toBe(9);
  expect(await settings()).toMatchObject({ rate: { limit: 100, perMs: 60_000 } });
  expect((await settings())?.perUser?.weight).toBe(2.5);
  await tab.go('audit');
  await tab.sees('PATCH /queues/{queue}');
});

it('takes limits of a queue back', async () => {
  await tab.go('queues?drawer=default');
  const drawer = tab.page.locator('dialog.drawer');
  await expect
    .poll(() => drawer.getByLabel('Rate', { exact: true }).inputValue())
    .toBe('100/1m/10');
  await drawer.getByLabel('Rate', { exact: true }).fill('');
  await drawer.getByLabel('Weight of users without settings of their own').fill('');
  await tab.press('Change…');
  await tab.sees('fairloom queues set --rate default --no-user-defaults default');
  await tab.confirm('Change');
  await expect.poll(async () => (await loom.queues.get('default'))?.settings.rate).toBeUndefined();
  expect((await loom.queues.get('default'))?.settings.perUser).toBeUndefined();
});

it('changes what a user may, with the shares of all before and after', async () => {
  await tab.go('users/acme?queue=default&drawer=limits');
  const drawer = tab.page.locator('dialog.drawer');
  await drawer.getByLabel('Weight').fill('2000');
  await tab.sees('A number from 0.01 to 1000');
  await drawer.getByLabel('Weight').fill('3');
  await drawer.getByLabel('Waiting at once, at most').fill('50');
  await tab.sees('0 wait now, 50 more are taken in.');
  await tab.press('Change…');
  await tab.sees('fairloom users set --queue default --weight 3 --max-queued 50 acme');
  await tab.confirm('Change');
  await expect
    .poll(async () => (await loom.users.get('acme', { queue: 'default' }))?.settings)
    .toMatchObject({ weight: 3, maxQueued: 50 });
});

it('shows no form to those who may not change anything', async () => {
  const reading = await serve(loom, { access: () => 'read' });
  const other = await WatchedPage.open(browser, reading.base);
  await other.go('queues?drawer=default');
  await other.sees('turns are taken in each by itself');
  expect(await other.page.locator('dialog').count()).toBe(0);
  expect(await other.page.getByRole('link', { name: 'Limits' }).count()).toBe(0);
  await other.go('users/acme?queue=default&drawer=limits');
  await other.sees('Weight and limits');
  expect(await other.page.locator('dialog').count()).toBe(0);
  expect(await other.page.getByRole('link', { name: 'Change…' }).count()).toBe(0);
  await other.close();
  await reading.stop();
});

it('leads from an attempt to its log, and by no words of an error where these are redacted', async () => {
  const stuck = await loom.enqueue(stumble, 1);
  await stuck.result().catch(() => undefined);
  const after = { dependsOn: [stuck.id] };
  const waiting = Array.from({ length: 60 }, () => loom.enqueue(measure, { width: 1 }, after));
  await Promise.all(waiting);
  await tab.go(`tasks/${stuck.id}`);
  await tab.page.locator('.attempts summary').first().click();
  await tab.press('1 line of the log');
  await tab.sees('of attempt 1');
  await expect.poll(() => tab.page.locator('.logs tr').count()).toBe(1);
  await tab.press('Of all attempts');
  await expect.poll(() => tab.page.locator('.logs tr').count()).toBe(2);
  await tab.sees('60 wait for it in all.');
  await tab.press('Show more');
  await expect.poll(() => tab.page.locator('.deps li').count()).toBe(61);
  expect(await tab.violations()).toEqual([]);
  expect(await tab.page.getByText('All that failed alike').count()).toBe(0);
});
