/** Every screen, in both themes, on a desk and on a phone: nothing breaks, and nobody is left out. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  ['tasks', /cannot be read/],
  ['tasks?where=state:failed%20user:nobody', /Nothing matches/],
  ['tasks/{failed}', /Its way/],
  ['tasks/{long}', /frame 4 of 10/],
  ['runs', /ingest/],
  ['runs/{run}', /failed first/],
  ['runs/{run}?view=time', /waits/],
  ['runs/{run}?view=table', /captions/],
  ['dead', /TypeError/],
  ['schedules', /nightly/],
  ['schedules/nightly', /Next slots/],
  ['workers', /live worker/],
  ['asks', /Deploy build 7\?/],
  ['bulk', /There was none yet/],
  ['audit', /Nobody has changed anything/],
  ['nowhere', /Nothing is here/],
];

const WINDOWS = [
  { width: 1_440, height: 900 },
  { width: 390, height: 844 },
] as const;

describe.each(['light', 'dark'] as const)('in the %s', (colorScheme) => {
  it.each(WINDOWS)('every screen is whole at $width px', async (viewport) => {
    const tab = await WatchedPage.open(browser, served.base, { colorScheme, viewport });
    const broken: string[] = [];
    for (const [path, shows] of SCREENS) {
      await tab.go(withIds(path));
      await tab.sees(shows);
      const violations = await tab.violations(colorScheme === 'dark' ? 'of colours' : 'all');
      broken.push(...violations.map((text) => `${path}: ${text}`));
      const overflow = await tab.overflow();
      if (overflow > 0) broken.push(`${path}: ${overflow} px too wide`);
    }
    expect(broken).toEqual([]);
    expect(await tab.faults()).toEqual([]);
    await tab.close();
  });
});

function withIds(path: string): string {
  return path.replace(/\{(failed|long|run)\}/, (_, key: keyof Story['ids']) => story.ids[key]);
}
