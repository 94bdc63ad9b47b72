/** A browser of the distribution, driven without bringing one. */
import { type Browser, chromium } from 'playwright-core';
import { programPath } from '../processes/programs.ts';

/** The caller closes it. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: programPath('chromium'),
    // Root has no sandbox; the browser opens our own page alone.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}
