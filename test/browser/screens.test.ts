/** Every screen, in both themes, on desks and on a phone: nothing breaks, and all rules of accessibility hold. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { beginStory, type Story } from '../support/browser/story.ts';
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

/** By what they show once they are there. */
const SCREENS: readonly (readonly [path: string, shows: RegExp])[] = [
  ['overview', /Needs a look/],
  ['users', /in line, each within one turn/],
  ['users/acme', /Weight and limits/],
  ['users/acme?drawer=limits', /Nothing is changed yet/],
  ['queues', /turns are taken in each by itself/],
  ['queues?drawer=default', /Nothing is changed yet/],
  ['tasks', /cannot be read/],
  ['tasks?where=state:failed%20user:nobody', /Nothing matches/],
  ['tasks/{failed}', /Its way/],
  ['tasks/{long}', /frame 4 of 10/],
  ['runs', /ingest/],
  ['runs/{run}', /failed first/],
  ['runs/{run}?view=time', /The end waited for/],
  ['runs/{run}?view=table', /captions/],
  ['dead', /TypeError/],
  ['schedules', /nightly/],
  ['schedules/nightly', /Next slots/],
  ['schedules/ticks', /2 finished/],
  ['workers', /live worker/],
  ['asks', /Deploy build 7\?/],
  ['bulk', /There was none yet/],
  ['audit', /No changes yet/],
  ['nowhere', /Nothing is here/],
];

/**
 * On a desk, also on the widest, and on a phone. All rules run in one theme of each window. The other theme changes
 * colors alone, and by the same names in both windows: so contrast is measured in it, on the desk.
 */
const WINDOWS = [
  { width: 1_440, height: 900, widest: 2_560, theme: 'light', contrast: 'dark' },
  { width: 390, height: 844, widest: 390, theme: 'dark' },
] as const;

/** Of all screens, on a machine that may be busy. */
const WHOLE_MS = 180_000;

it.each(WINDOWS)(
  'every screen is whole at $width px, in both themes',
  async (window) => {
    const { widest, theme, width, height } = window;
    const tab = await WatchedPage.open(browser, served.base, {
      colorScheme: theme,
      viewport: { width, height },
    });
    const broken: string[] = [];
    const measure = async (path: string, colorScheme: 'light' | 'dark', rules?: string[]) => {
      await tab.page.emulateMedia({ colorScheme });
      await tab.page.locator(`html[data-theme=${colorScheme}]`).waitFor();
      const violations = await tab.violations(rules);
      broken.push(...violations.map((text) => `${path}, ${colorScheme}: ${text}`));
    };
    for (const [path, shows] of SCREENS) {
      await tab.go(withIds(path));
      await tab.sees(shows);
      for (const wide of new Set([width, widest])) {
        await tab.page.setViewportSize({ height, width: wide });
        const overflow = await tab.overflow();
        if (overflow > 0) broken.push(`${path} at ${wide} px: ${overflow} px too wide`);
      }
      await tab.page.setViewportSize({ width, height });
      await measure(path, theme);
      if ('contrast' in window) {
        await measure(path, window.contrast, ['color-contrast']);
        await tab.page.emulateMedia({ colorScheme: theme });
      }
    }
    expect(broken).toEqual([]);
    expect(await tab.faults()).toEqual([]);
    await tab.close();
  },
  WHOLE_MS,
);

function withIds(path: string): string {
  return path.replace(/\{(failed|long|run)\}/, (_, key: keyof Story['ids']) => story.ids[key]);
}
