/** What people come for, from the first screen to the last. */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import { redis } from '../../src/redis.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { beginStory, type Story, world } from '../support/browser/story.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';

let browser: Browser;
let story: Story;
let served: Served;
let tab: WatchedPage;

beforeAll(async () => {
  browser = await openBrowser();
  story = await beginStory(redis(inject('redisUrl'), { prefix: `page-${process.pid}` }));
  served = await serve(story.loom);
});
afterEach(async () => {
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});
afterAll(async () => {
  await served.stop();
  await story.close();
  await browser.close();
});

it('leads from a failure to its dead letter, and puts that back', async () => {
  tab = await WatchedPage.open(browser, served.base);
  await tab.go('overview');
  await tab.press('All dead letters');
  await tab.page.locator('[data-row]', { hasText: 'transcode' }).getByRole('link').click();
  await tab.sees(/2 dead letters? with|3 dead letters with 2 kinds of error/);
  await tab.press('Its tasks');
  await tab.press(new RegExp(story.ids.failed));
  await tab.sees('failed 2 of 2 attempts');
  world.isBroken = false;
  await tab.page.keyboard.press('Shift+R');
  await tab.sees('It goes back to the end of its line');
  await tab.confirm('Redrive');
  await tab.page.locator('.chip', { hasText: 'finished' }).waitFor();
  expect((await story.loom.tasks.get(story.ids.failed))?.result).toBe('done');
});

it('puts all back that failed alike, at a rate, after they were counted', async () => {
  world.isBroken = false;
  tab = await WatchedPage.open(browser, served.base);
  await tab.go('dead');
  await tab.page.locator('[data-row]', { hasText: 'transcode' }).getByRole('link').click();
  await tab.press('Redrive…');
  await tab.press('Count first');
  await tab.sees('would be changed; nothing was.');
  await tab.press('Redrive…');
  await tab.page.getByLabel('At most').fill('50/1s');
  await tab.sees(/fairloom bulk start redrive --where .* --rate 50\/1s/);
  await tab.confirm('Redrive');
  await tab.page.locator('.chip', { hasText: 'finished' }).waitFor();
  await expect
    .poll(async () => (await story.loom.dead.list({ name: 'transcode' })).items)
    .toEqual([]);
});

it('says in three clicks why a user is slow', async () => {
  tab = await WatchedPage.open(browser, served.base);
  await tab.go('overview');
  await tab.press('Users');
  await tab.press('ferrous');
  await tab.sees('at its limit of 1 running');
  await tab.press('Change…');
  await tab.page.getByLabel('Running at once, at most').fill('3');
  await tab.sees('fairloom users set --queue default --max-running 3 ferrous');
  await tab.press('Change…');
  await tab.confirm('Change');
  await expect
    .poll(async () => (await story.loom.users.get('ferrous'))?.settings.maxRunning)
    .toBe(3);
});

it('answers a question, and its task goes on', async () => {
  tab = await WatchedPage.open(browser, served.base);
  await tab.go('asks');
  await tab.sees('Deploy build 7?');
  await tab.page.getByLabel('Who answers').fill('ana');
  await tab.press('deploy');
  await tab.sees('No open questions');
  await expect
    .poll(async () => (await story.loom.tasks.get(story.ids.asking))?.result)
    .toBe('deploy');
});

it('saves what a filter matches as a file', async () => {
  tab = await WatchedPage.open(browser, served.base);
  await tab.go('tasks?where=state:finished%20name:resize%20user:northwind');
  for (const [button, name, shows] of [
    ['As CSV', 'tasks.csv', /^id,name,state,.*,resize,finished,northwind,mails,\d,.*\r\n$/s],
    ['As JSON lines', 'tasks.jsonl', /^\{[^\n]+"name":"resize"[^\n]+\}\n$/],
  ] as const) {
    await tab.page.keyboard.press('e');
    await tab.sees(
      "fairloom tasks list --where 'state:finished name:resize user:northwind' --limit 10000",
    );
    expect(await tab.violations()).toEqual([]);
    const saved = tab.page.waitForEvent('download');
    await tab.press(button);
    const file = await saved;
    expect(file.suggestedFilename()).toBe(name);
    expect(await readFile(await file.path(), 'utf8')).toMatch(shows);
    await tab.sees('Saved all of them');
  }
});

it('shows what happens while it is looked at', async () => {
  tab = await WatchedPage.open(browser, served.base);
  await tab.go(`tasks/${story.ids.long}`);
  await tab.page.locator('.chip', { hasText: 'started' }).waitFor();
  await story.loom.tasks.cancel(story.ids.long);
  const state = tab.page.locator('.chip', { hasText: 'canceled' });
  await state.waitFor();
  await expect.poll(() => state.textContent()).toBe('canceled');
});

it('pauses a user, who is then held back', async () => {
  tab = await WatchedPage.open(browser, served.base);
  await tab.go('users/northwind');
  await tab.page.keyboard.press('p');
  await tab.sees('fairloom users pause --queue default northwind');
  await tab.confirm('Pause');
  await tab.press('Resume…');
  await tab.sees('takes turns in default again');
  expect((await story.loom.users.get('northwind'))?.settings.paused).toBe(true);
});
