/** Shows a demo while it runs: a table that is redrawn on a terminal, plain lines elsewhere. */
import { shownLength } from '../terminal/moments.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, textTable } from '../terminal/text-table.ts';
import type { Figures, UserSummary } from './summary.ts';

/** Characters of the longest bar. */
const BAR = 20;

/** A terminal is redrawn this often, in ms: smooth, and cheap beside the work. */
const FRAME_MS = 200;
/** A plain line is written this often, in ms. */
const LINE_MS = 1_000;
/** Lines of news that stay in view. */
const NEWS = 8;

interface ScreenParts {
  readonly write: (text: string) => void;
  readonly style: Style;
  readonly live: boolean;
  /** First line. */
  readonly title: string;
}

/** Takes figures and news, and writes them as a table in place or as lines. */
export class Screen {
  /** How often {@link draw} is worth calling, in ms. */
  readonly intervalMs: number;
  readonly #parts: ScreenParts;
  readonly #news: string[] = [];
  /** Lines of the last figures; none before the first. */
  #table: readonly string[] = [];
  /** Lines of the present frame, which the next one replaces. */
  #drawn = 0;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
    this.intervalMs = parts.live ? FRAME_MS : LINE_MS;
    if (!parts.live) parts.write(`${parts.title}\n`);
  }

  /** Something happened that is worth a line. */
  news(text: string): void {
    if (!this.#parts.live) {
      this.#parts.write(`${text}\n`);
      return;
    }
    this.#news.push(text);
    if (this.#news.length > NEWS) this.#news.shift();
    this.#redraw();
  }

  /** The figures `seconds` after the start. */
  draw(figures: Figures, seconds: number): void {
    if (!this.#parts.live) {
      this.#parts.write(`${shownLength(seconds * 1_000).padStart(6)}  ${oneLine(figures)}\n`);
      return;
    }
    const { style } = this.#parts;
    const line = `${seconds.toFixed(1)} s  ${oneLine(figures)}`;
    this.#table = ['', ...userTable(figures, style), '', line];
    this.#redraw();
  }

  /** The last word: the table in full. */
  end(figures: Figures, lines: readonly string[]): void {
    const { live, write, style } = this.#parts;
    const table = live ? [] : ['', ...userTable(figures, style)];
    write(`${[...table, '', ...lines].join('\n')}\n`);
  }

  #redraw(): void {
    const { write, style, title } = this.#parts;
    const news = this.#news.map((text) => style.dim(`· ${text}`));
    const lines = [style.bold(title), ...this.#table, ...news];
    const back = this.#drawn > 0 ? `\u001b[${this.#drawn}A\u001b[J` : '';
    write(`${back}${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }
}

/** The figures of everybody in one line. */
function oneLine({ turns, maxDeviation, jain }: Figures): string {
  return `${turns} turns, largest deviation ${maxDeviation.toFixed(2)} turns, Jain index ${jain.toFixed(4)}`;
}

function userTable({ users }: Figures, style: Style): readonly string[] {
  const largest = Math.max(...users.map(({ share, fairShare }) => Math.max(share, fairShare)));
  const [heading = '', ...rows] = textTable(users, columns(style, largest));
  return [style.dim(heading), ...rows];
}

function columns(style: Style, largest: number): readonly Column<UserSummary>[] {
  return [
    { title: 'USER', cell: ({ user }) => style.bold(user) },
    { title: 'WEIGHT', cell: ({ weight }) => String(weight), align: 'right' },
    { title: 'WAITING', cell: ({ waiting }) => String(waiting), align: 'right' },
    { title: 'TURNS', cell: ({ turns }) => String(turns), align: 'right' },
    { title: 'SHARE', cell: ({ share }) => percent(share), align: 'right' },
    { title: 'FAIR', cell: ({ fairShare }) => percent(fairShare), align: 'right' },
    { title: 'AHEAD', cell: ({ deviation }) => signed(deviation), align: 'right' },
    { title: 'WAIT P50', cell: ({ waitMs }) => shownLength(waitMs.p50), align: 'right' },
    { title: 'P99', cell: ({ waitMs }) => shownLength(waitMs.p99), align: 'right' },
    { title: '', cell: ({ share }) => style.green('█'.repeat(bar(share, largest))) },
  ];
}

function bar(share: number, largest: number): number {
  return largest === 0 ? 0 : Math.round((share / largest) * BAR);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)} %`;
}

function signed(turns: number): string {
  return `${turns < 0 ? '−' : '+'}${Math.abs(turns).toFixed(2)}`;
}
