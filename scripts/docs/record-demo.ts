/**
 * Records `npm run demo` on a terminal, and draws it as docs/assets/demo-light.svg and
 * demo-dark.svg. Needs `script`, which makes the terminal.
 *
 *   npm run demo:record
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { ROOT } from '../run.ts';
import { type Run, TerminalScreen } from './terminal-screen.ts';
import { DARK, drawFilm, type Film, type Frame, LIGHT } from './terminal-svg.ts';

/** Between two frames of the picture, in ms: often enough to look live, seldom enough to stay small. */
const STEP_MS = 800;
/** The last frame is shown this long, in ms. */
const HOLD_MS = 6_000;
/** The demo begins a frame with: back to the first line, and clear the rest. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a sequence begins.
const REDRAW = /(?=\u001b\[\d+A\u001b\[J)/;

/** The typed command. */
const COMMAND: readonly Run[] = [
  { column: 0, text: '$ ', look: { isBold: false, isDim: true, color: undefined } },
  { column: 2, text: 'npm run demo', look: { isBold: false, isDim: false, color: undefined } },
];

/** Output of a program, with its time in ms from the first output. */
interface Piece {
  readonly at: number;
  readonly text: string;
}

const folder = `${ROOT}docs/assets/`;
const frames = thinned(framesOf(await recorded()));
const film: Film = {
  title: 'npm run demo: ten users share ten slots by weight, one of them with 100,000 tasks',
  frames,
  holdMs: HOLD_MS,
};
mkdirSync(folder, { recursive: true });
for (const [name, theme] of [
  ['light', LIGHT],
  ['dark', DARK],
] as const) {
  writeFileSync(`${folder}demo-${name}.svg`, drawFilm(film, theme));
}
console.log(`${frames.length} frames in docs/assets/demo-light.svg and demo-dark.svg`);

function recorded(): Promise<readonly Piece[]> {
  // The reader's terminal decides about colors, not the options of this process.
  const asked = { NO_COLOR: undefined, FORCE_COLOR: undefined };
  const child = spawn('script', ['-qec', 'npm run --silent demo', '/dev/null'], {
    cwd: ROOT,
    env: { ...process.env, ...asked, TERM: 'xterm-256color' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pieces: Piece[] = [];
  let began: number | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    began ??= performance.now();
    pieces.push({ at: performance.now() - began, text });
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(pieces);
      else reject(new Error(`the demo ended with ${code}`));
    });
  });
}

/** The screen before each redraw, and at the end. */
function framesOf(pieces: readonly Piece[]): readonly Frame[] {
  const screen = new TerminalScreen();
  let offset = 0;
  return pieces
    .map(({ text }) => text)
    .join('')
    .split(REDRAW)
    .map((text) => {
      const at = timeOf(pieces, offset);
      offset += text.length;
      screen.write(text);
      return { at, lines: [COMMAND, ...screen.lines()] };
    });
}

/** The time of the character at this offset. */
function timeOf(pieces: readonly Piece[], offset: number): number {
  let before = 0;
  for (const { at, text } of pieces) {
    before += text.length;
    if (offset < before) return at;
  }
  return pieces.at(-1)?.at ?? 0;
}

/** The first frame, the last one, and between them one for each step. */
function thinned(all: readonly Frame[]): readonly Frame[] {
  const last = all.at(-1);
  const some = all.slice(0, -1).filter(({ at }, index) => {
    const before = all[index - 1];
    return before === undefined || Math.floor(at / STEP_MS) > Math.floor(before.at / STEP_MS);
  });
  return last === undefined ? some : [...some, last];
}
