/**
 * A browser of the distribution, driven without bringing one: from the PATH, else installed by apt when we are
 * root. Otherwise one line says what to do; its tests are never skipped.
 */
import { type Browser, chromium } from 'playwright-core';
import { installPackage } from '../processes/apt.ts';
import { findProgram } from '../processes/programs.ts';

/** Opens it; whoever does closes it. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    // Root has no sandbox; what is opened is our own page alone.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}

/** Throws with the line to print. */
function findChromium(): string {
  const found = onPath() ?? (installPackage('chromium') ? onPath() : undefined);
  if (found !== undefined) return found;
  throw new Error(
    'The page is looked at with chromium on the PATH: install the package "chromium".',
  );
}

function onPath(): string | undefined {
  return findProgram('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable');
}
