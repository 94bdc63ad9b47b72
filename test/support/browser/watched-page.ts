/** One tab of a browser, in which nothing goes wrong unnoticed. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

const require = createRequire(import.meta.url);
/** Rules of accessibility, as they are run by many. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Violations of the policy of the page are kept where the test can read them. */
const POLICY_WATCH = `
  globalThis.refusedByPolicy = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
    globalThis.refusedByPolicy.push([violatedDirective, blockedURI, sample].join(' '));
  });
`;

/** What is not there after so long does not come. */
const PATIENCE_MS = 120_000;

/** How a tab is opened. */
export interface TabOptions extends BrowserContextOptions {
  /** Runs before the scripts of the page. */
  readonly before?: string;
}

/** A tab, with what went wrong in it. */
export class WatchedPage {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #base: string;
  readonly #faults: string[] = [];

  private constructor(page: Page, context: BrowserContext, base: string) {
    this.page = page;
    this.#context = context;
    this.#base = base;
    page.on('console', (message) => {
      if (message.type() === 'error') this.#faults.push(message.text());
    });
    page.on('pageerror', (error) => this.#faults.push(String(error)));
    page.on('dialog', (dialog) => {
      this.#faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  /** Of a server that ends with a slash. */
  static async open(
    browser: Browser,
    base: string,
    options: TabOptions = {},
  ): Promise<WatchedPage> {
    const { before, ...rest } = options;
    const context = await browser.newContext(rest);
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(`${POLICY_WATCH}${before ?? ''}`);
    return new WatchedPage(await context.newPage(), context, base);
  }

  /** Goes to a screen, and waits until it shows what it is about. */
  async go(screen: string): Promise<void> {
    const address = `${this.#base}#/${screen}`;
    await this.page.goto(address);
    await this.page.locator('main > *').first().waitFor();
    await this.page.locator('main .skeleton').first().waitFor({ state: 'detached' });
  }

  /** What a text is shown in, once it is. */
  async sees(text: RegExp | string): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Says yes to what is asked, and waits until it is done. */
  async confirm(name: string): Promise<void> {
    const dialogs = this.page.locator('dialog');
    const left = (await dialogs.count()) - 1;
    await dialogs.last().getByRole('button', { name, exact: true }).click();
    await dialogs.nth(left).waitFor({ state: 'detached' });
  }

  /** Presses a button, or follows a link, by its name; where a dialog is open, one of that. */
  async press(name: RegExp | string): Promise<void> {
    // A button says its key behind its name.
    const options = { name: typeof name === 'string' ? startingWith(name) : name };
    const dialogs = this.page.locator('dialog');
    const scope = (await dialogs.count()) > 0 ? dialogs.last() : this.page;
    await scope.getByRole('button', options).or(scope.getByRole('link', options)).first().click();
  }

  /** What rules of accessibility are broken, and where; of all rules, or of these. */
  async violations(rules?: readonly string[]): Promise<readonly string[]> {
    const hasAxe = await this.page.evaluate('globalThis.axe !== undefined');
    if (hasAxe !== true) await this.page.evaluate(AXE);
    const options = {
      resultTypes: ['violations'],
      ...(rules === undefined ? {} : { runOnly: rules }),
    };
    return this.page.evaluate(`
      axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))
    `);
  }

  /** Whether the page is wider than its window. */
  overflow(): Promise<number> {
    return this.page.evaluate(`document.documentElement.scrollWidth - innerWidth`);
  }

  /** What went wrong so far: errors of scripts and of the console, dialogs, refusals of the policy. */
  async faults(): Promise<readonly string[]> {
    const refused: readonly string[] = await this.page.evaluate(`globalThis.refusedByPolicy`);
    return [...this.#faults, ...refused];
  }

  /** Those that a test has caused itself are no news. */
  forget(): void {
    this.#faults.length = 0;
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

function startingWith(name: string): RegExp {
  return new RegExp(`^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}( \\S+)?$`);
}
