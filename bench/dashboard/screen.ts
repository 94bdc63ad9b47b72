/** Waiting times of a person at the screen, in a real browser. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Fairloom } from '../../src/index.ts';
import { openBrowser } from '../../test/support/browser/chromium.ts';
import { now } from '../kit/now.ts';

/** The user whose screen is open. */
const USER = 'u1';
/** Between two changes, in ms; no multiple of the interval of readings. */
const CHANGE_EVERY_MS = 830;

/** For a first visit of the users, in ms since the address was entered: first paint, first row. */
export interface FirstLook {
  readonly paint: number;
  readonly rows: number;
}

/** Opens the users in a fresh browser profile, this many times. */
export async function firstLooks(port: number, times: number): Promise<readonly FirstLook[]> {
  const looks: FirstLook[] = [];
  const browser = await openBrowser();
  try {
    for (let time = 0; time < times; time++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.addInitScript(FIRST_ROW);
      await page.goto(`http://127.0.0.1:${port}/#/users`);
      looks.push(await page.evaluate(READ_LOOK));
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return looks;
}

/** Records when the first row of a user is in the document. */
const FIRST_ROW = `
  globalThis.firstRow = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector('main tbody a[href*="users/u"]') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.now()));
    }).observe(document, { childList: true, subtree: true });
  });`;

const READ_LOOK = `globalThis.firstRow.then((rows) => ({
  paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  rows,
}))`;

/** Changes the weight of a user again and again: from the store's answer until the screen shows it, in ms. */
export async function changesOnScreen(
  loom: Fairloom,
  port: number,
  changes: number,
): Promise<readonly number[]> {
  const browser = await openBrowser();
  const times: number[] = [];
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/#/users/${USER}?queue=default`);
    await page.locator('.figures').first().waitFor();
    // The stream takes a moment to be open.
    await pause(2_000);
    for (let weight = 2; weight < changes + 2; weight++) {
      const seen = shows(page, weight);
      await loom.users.set(USER, { weight });
      const from = now();
      times.push((await seen) - from);
      await pause(CHANGE_EVERY_MS);
    }
    await loom.users.set(USER, { weight: 1 });
  } finally {
    await browser.close();
  }
  return times;
}

/** When the figures are on the screen, in ms since the epoch. */
function shows(page: Page, weight: number): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const look = () => document.querySelector('.figures').textContent.startsWith('Weight${weight}')
      ? resolve(performance.timeOrigin + performance.now())
      : requestAnimationFrame(look);
    look();
  })`);
}
