/** Everything by keys, and lists of any length. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { beginStory, render, type Story } from '../support/browser/story.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

const MANY = 1_200;

let browser: Browser;
let story: Story;
let served: Served;

beforeAll(async () => {
  [browser, story] = await Promise.all([openBrowser(), beginStory(memory())]);
  served = await serve(story.loom);
  for (let at = 0; at < MANY; at++) await story.loom.enqueue(render, at, { user: 'many' });
});

afterAll(async () => {
  await browser.close();
  await served.stop();
  await story.close();
});

it('goes, filters, picks, opens and closes without a pointer', async () => {
  const tab = await WatchedPage.open(browser, served.base);
  const { keyboard } = tab.page;
  const at = (): Promise<string> => tab.page.evaluate('location.hash');
  await tab.go('overview');
  await keyboard.press('g');
  await keyboard.press('t');
  await tab.sees('cannot be read');
  await expect.poll(at).toBe('#/tasks');
  await tab.page.getByRole('navigation', { name: 'Views' }).waitFor();
  await keyboard.press('/');
  await tab.page.locator('[data-filter]:focus').waitFor();
  await keyboard.type('user:bolt');
  await keyboard.press('Enter');
  // The list before shows this row too, and a key that finds that list is lost with it.
  await tab.page.getByRole('button', { name: 'Without user:bolt' }).waitFor();
  await tab.sees('1 match');
  await tab.sees('b.mov');
  expect(await at()).toBe('#/tasks?where=state%3Afailed+user%3Abolt');
  await keyboard.press('Escape');
  await keyboard.press('j');
  await tab.page.locator('tr[data-row] :focus').waitFor();
  await keyboard.press('x');
  await expect.poll(() => tab.page.locator('input[type=checkbox]').first().isChecked()).toBe(true);
  await keyboard.press('Enter');
  await tab.sees('Its way');
  await keyboard.press('?');
  await tab.sees('These keys');
  expect(await tab.violations()).toEqual([]);
  await keyboard.press('Escape');
  await tab.page.locator('dialog').waitFor({ state: 'detached' });
  await keyboard.press('Control+k');
  await tab.page.locator('input[role=combobox]:focus').waitFor();
  await keyboard.type('appro');
  expect(await tab.violations()).toEqual([]);
  await keyboard.press('Enter');
  await tab.sees('Deploy build 7?');
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});

it('draws of a long list what is in sight, and reads the rest when it is asked for', async () => {
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go('tasks?where=state:queued%20user:many');
  const rows = tab.page.locator('tr[data-row]');
  await tab.press('Show more');
  await tab.page.getByText(/^550\+ match/).waitFor();
  expect(await rows.count()).toBeLessThan(200);
  await tab.page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await tab.page.getByText(/^1,0\d\d\+? match/).waitFor();
  expect(await rows.count()).toBeLessThan(200);
  await expect
    .poll(() => tab.page.locator('table').getAttribute('aria-rowcount'))
    .toMatch(/^1\d{3}$/);
  await tab.sees(/as of/);
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});

it('says how many there are in each state, and of how many a pick of all is', async () => {
  const tab = await WatchedPage.open(browser, served.base);
  const { queued = 0 } = (await story.loom.queues.get('default'))?.counts ?? {};
  expect(queued).toBeGreaterThan(1_000);
  await tab.go('tasks?where=state:queued%20queue:default');
  const inLine = tab.page.getByRole('navigation', { name: 'Views' }).getByText('In line');
  const all = queued.toLocaleString('en-US');
  await expect.poll(() => inLine.textContent()).toBe(`In line${all}`);
  await tab.press(/^Pick all that match: up to 1,\d+/);
  await tab.sees(`all that match, up to ${all}`);
  await tab.press('Pick none');
  await tab.sees('None picked');
  await tab.close();
});

it('keeps filters under names, leads to them from the palette, and forgets them', async () => {
  const tab = await WatchedPage.open(browser, served.base, {
    viewport: { width: 390, height: 844 },
  });
  const { keyboard } = tab.page;
  const saved = tab.page.getByRole('list', { name: 'Saved views' });
  await tab.go('tasks?where=state:finished%20user:northwind');
  for (const [name, button] of [
    ['of northwind', 'Save'],
    ['of northwind', 'Save in its place'],
    ['another', 'Save'],
  ] as const) {
    await keyboard.press('v');
    await tab.page.getByLabel('Name').fill(name);
    expect(await tab.violations()).toEqual([]);
    await tab.confirm(button);
  }
  await expect
    .poll(() => saved.getByRole('link').allTextContents())
    .toEqual(['another', 'of northwind']);
  await tab.page.reload();
  await tab.go('overview');
  await keyboard.press('Control+k');
  await tab.page.locator('input[role=combobox]:focus').waitFor();
  await keyboard.type('northw');
  expect(await tab.violations()).toEqual([]);
  await keyboard.press('Enter');
  await tab.sees('1 match');
  await expect.poll(() => tab.page.evaluate('location.hash')).toContain('user%3Anorthwind');
  expect(await tab.violations()).toEqual([]);
  expect(await tab.overflow()).toBeLessThanOrEqual(0);
  await tab.press('Forget the view of northwind');
  await tab.sees('Forgot of northwind');
  await expect.poll(() => saved.getByRole('link').allTextContents()).toEqual(['another']);
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});

it.each([
  [
    'keeps nothing',
    `for (const name of ['localStorage', 'sessionStorage'])
       Object.defineProperty(globalThis, name, { get: () => { throw new DOMException('no', 'SecurityError'); } });`,
    'This browser keeps nothing for this page',
  ],
  [
    'has kept something else',
    `localStorage.setItem('fairloom.views:/internal/queue/', '[7,null,{"name":"x"},{"name":"","where":"y"}]');
     localStorage.setItem('fairloom.theme', '{}');`,
    'Saved mine',
  ],
])('shows all where the browser %s', async (_, before, says) => {
  const tab = await WatchedPage.open(browser, served.base, { before });
  await tab.go('tasks');
  await tab.sees('cannot be read');
  await tab.page.keyboard.press('t');
  await tab.page.keyboard.press('v');
  await tab.page.getByLabel('Name').fill('mine');
  await tab.page.keyboard.press('Enter');
  await tab.sees(says);
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});

it('picks all that match by one key, and takes them away after the word was typed, and not before', async () => {
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go('tasks?where=state:queued%20user:many');
  expect(await tab.page.getByRole('button', { name: 'Cancel…' }).count()).toBe(0);
  await tab.page.keyboard.press('Shift+A');
  await tab.sees('all that match, 50+');
  await expect.poll(() => tab.page.locator('tbody input:checked').count()).toBe(50);
  expect(await tab.violations()).toEqual([]);
  // The first row is left out.
  await tab.page.keyboard.press('j');
  await tab.page.locator('tr[data-row] :focus').waitFor();
  await tab.page.keyboard.press('x');
  await tab.sees('all that match, 50+, but for 1');
  const kept = await tab.page.locator('tr[data-row]').first().getAttribute('data-row');
  await tab.press('Cancel…');
  await tab.sees(`fairloom bulk start cancel --where 'state:queued user:many -id:${kept}'`);
  const yes = tab.page.locator('dialog').getByRole('button', { name: 'Cancel', exact: true });
  await expect.poll(() => yes.getAttribute('aria-disabled')).toBe('true');
  await tab.page.keyboard.press('Enter');
  expect((await story.loom.bulk.list()).items).toEqual([]);
  await tab.page.getByLabel(/^Type cancel/).fill('cancel');
  await tab.confirm('Cancel');
  await tab.page.locator('.chip', { hasText: 'finished' }).waitFor();
  const left = await story.loom.tasks.list({ state: 'queued', user: 'many', queue: 'default' });
  expect(left.items.map(({ id }) => id)).toEqual([kept]);
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});
