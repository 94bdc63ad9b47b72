import { clearTimeout, monotonicMs, setTimeout } from '../../base/globals.ts';
import type { Fairloom } from '../../client/client.ts';
import { type Style, terminalLine } from '../terminal/style.ts';
import { TopSource } from '../views/snapshot.ts';
import { perform } from './actions.ts';
import { frameLines, type Shown } from './frame.ts';
import { type Action, FIRST_SCREEN, pressed, type Screen, type Target } from './keys.ts';
import { chosen, matching } from './listing.ts';
import { otherListing, userListing } from './lists.ts';

/** Rows of a terminal that does not say how many it has. */
const ROWS = 24;

/** The other screen of a terminal, without the cursor and with long lines cut; and back. */
const ENTER_SCREEN = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE_SCREEN = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Where it is shown. */
export interface Terminal {
  readonly keys: NodeJS.ReadStream;
  readonly out: NodeJS.WritableStream;
  readonly style: Style;
}

/** Shows the screen until the user quits; reads every so many ms, and at once after a key that asks for it. */
export async function showLive(loom: Fairloom, terminal: Terminal, everyMs: number): Promise<void> {
  const { keys, out } = terminal;
  const live = new LiveScreen(loom, terminal);
  await live.look();
  out.write(ENTER_SCREEN);
  keys.setRawMode(true).setEncoding('utf8').resume();
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => again(live.look()), everyMs);
      const again = (looked: Promise<void>): void => {
        looked.then(() => live.isOver || timer.refresh(), reject);
      };
      keys.on('data', (text: string) => {
        const looked = keysOf(text).map((key) => live.press(key));
        if (live.isOver) {
          clearTimeout(timer);
          resolve();
        } else again(Promise.all(looked).then(() => undefined));
      });
      keys.on('end', resolve);
      live.draw();
    });
  } finally {
    keys.removeAllListeners('data').setRawMode(false).pause();
    out.write(LEAVE_SCREEN);
  }
}

class LiveScreen {
  readonly #loom: Fairloom;
  readonly #terminal: Terminal;
  readonly #source: TopSource;
  #screen: Screen = FIRST_SCREEN;
  #shown: Shown | undefined;
  #notice: string | undefined;
  /** Looks that were begun: only the newest is shown. */
  #looks = 0;

  constructor(loom: Fairloom, terminal: Terminal) {
    this.#loom = loom;
    this.#terminal = terminal;
    this.#source = new TopSource(loom);
  }

  get isOver(): boolean {
    return this.#screen.isOver;
  }

  /** Reads what the tab shows, and draws it. */
  async look(): Promise<void> {
    const number = ++this.#looks;
    const { tab, sort } = this.#screen;
    const { style } = this.#terminal;
    const now = monotonicMs();
    const isUsers = tab === 'users';
    const [snapshot, other] = await Promise.all([
      isUsers ? this.#source.take(now) : this.#source.figures(now),
      isUsers ? undefined : otherListing(this.#loom, tab, style),
    ]);
    if (number !== this.#looks || this.isOver) return;
    const listing = other ?? userListing(snapshot, sort, style);
    this.#shown = { snapshot, listing, notice: this.#notice };
    if (number > 1) this.draw();
  }

  draw(): void {
    const { out, style } = this.#terminal;
    if (this.#shown === undefined) return;
    const { rows = ROWS } = out as Partial<NodeJS.WriteStream>;
    const lines = frameLines(
      { ...this.#shown, notice: this.#notice },
      this.#screen,
      rows - 1,
      style,
    );
    const text = lines.map((line) => `${terminalLine(line)}${CLEAR_LINE}`).join('\r\n');
    out.write(`${HOME}${text}\r\n${CLEAR_BELOW}`);
  }

  /** Fulfilled once what the key has asked for is drawn. */
  async press(key: string): Promise<void> {
    const before = this.#screen;
    const items = this.#shown === undefined ? [] : matching(this.#shown.listing, before.filter);
    const at = chosen(items, before.cursor);
    const target: Target | undefined = items[at]?.target;
    // Up goes on from the row that is marked, also when fewer are left than there were.
    this.#screen = pressed({ ...before, cursor: at }, key, target);
    this.#notice = undefined;
    const { tab, sort, confirmed } = this.#screen;
    if (confirmed !== undefined) return this.#act(confirmed);
    if (tab === before.tab && sort === before.sort) return this.draw();
    await this.look();
  }

  async #act(action: Action): Promise<void> {
    this.draw();
    const notice = await perform(this.#loom, action);
    this.#notice = notice;
    await this.look();
  }
}

/** Several keys may arrive at once; those that begin with escape are one. */
function keysOf(text: string): readonly string[] {
  return text.startsWith('\u001b') ? [text] : [...text];
}
