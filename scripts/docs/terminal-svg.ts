/** Draws the screens of a terminal as an SVG that plays its frames, in the colors of one theme. */
import type { Run } from './terminal-screen.ts';

export interface Theme {
  readonly background: string;
  readonly border: string;
  readonly text: string;
  readonly dim: string;
  readonly red: string;
  readonly green: string;
  readonly yellow: string;
}

export interface Frame {
  /** From the start of the recording, in ms. */
  readonly at: number;
  readonly lines: readonly (readonly Run[])[];
}

export interface Film {
  /** A description for screen readers. */
  readonly title: string;
  /** In order; a viewer without animations shows the last one. */
  readonly frames: readonly Frame[];
  /** How long the last frame is shown, in ms. */
  readonly holdMs: number;
}

export const LIGHT: Theme = {
  background: '#ffffff',
  border: '#d0d7de',
  text: '#1f2328',
  dim: '#59636e',
  red: '#cf222e',
  green: '#1a7f37',
  yellow: '#9a6700',
};

export const DARK: Theme = {
  background: '#0d1117',
  border: '#30363d',
  text: '#e6edf3',
  dim: '#8b949e',
  red: '#f85149',
  green: '#3fb950',
  yellow: '#d29922',
};

/** Width of a character: 0.6 of the font's size, as in nearly all terminal fonts. */
const CELL = 7.8;
const FONT = 13;
const LINE = 18;
/** From the top of a line to the foot of its letters. */
const BASE = 13;
const MARGIN = 16;
const BAR = '█';

export function drawFilm({ title, frames, holdMs }: Film, theme: Theme): string {
  const columns = Math.max(...frames.flatMap(({ lines }) => lines.map(widthOf)));
  const width = tidy(columns * CELL);
  const height = Math.max(...frames.map(({ lines }) => lines.length)) * LINE;
  const outer = `${tidy(width + 2 * MARGIN)} ${height + 2 * MARGIN}`;
  // The last frame is in the visible place when nothing moves; the others wait below it.
  const strip = [...frames.slice(-1), ...frames.slice(0, -1)];
  const drawn = strip.map(({ lines }, at) =>
    [`<g transform="translate(0 ${at * height})">`, ...lines.flatMap(drawLine), '</g>'].join('\n'),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${outer}" width="${tidy(width + 2 * MARGIN)}" xml:space="preserve" role="img">
<title>${escaped(title)}</title>
<style>
${sheet(theme)}
${motion(frames, holdMs, height)}
</style>
<rect x="0.5" y="0.5" width="${tidy(width + 2 * MARGIN - 1)}" height="${height + 2 * MARGIN - 1}" rx="8" class="window"/>
<svg x="${MARGIN}" y="${MARGIN}" width="${width}" height="${height}">
<g class="strip">
${drawn.join('\n')}
</g>
</svg>
</svg>
`;
}

function drawLine(runs: readonly Run[], row: number): readonly string[] {
  const top = row * LINE;
  return runs.flatMap((run) => {
    const text = run.text.trim();
    if (text === '') return [];
    const column = run.column + run.text.indexOf(text);
    const x = tidy(column * CELL);
    const width = tidy(text.length * CELL);
    const { isBold, isDim, color } = run.look;
    if (text.startsWith(BAR)) {
      return `<rect x="${x}" y="${top + 3}" width="${width}" height="12" class="${color ?? 'text'}"/>`;
    }
    const marks = [isBold && 'bold', isDim && 'dim', color].filter(Boolean).join(' ');
    const look = marks === '' ? '' : ` class="${marks}"`;
    // Stretched to its columns, for any font.
    return `<text x="${x}" y="${top + BASE}" textLength="${width}"${look}>${escaped(text)}</text>`;
  });
}

function sheet(theme: Theme): string {
  const fonts = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";
  return [
    `text{font:${FONT}px ${fonts};fill:${theme.text};white-space:pre}`,
    `.window{fill:${theme.background};stroke:${theme.border}}`,
    '.bold{font-weight:bold}',
    `.dim{fill:${theme.dim}}`,
    `.red{fill:${theme.red}}`,
    `.green{fill:${theme.green}}`,
    `.yellow{fill:${theme.yellow}}`,
    `.text{fill:${theme.text}}`,
  ].join('\n');
}

/** Moves the strip from frame to frame, unless the viewer prefers reduced motion. */
function motion(frames: readonly Frame[], holdMs: number, height: number): string {
  const lengthMs = (frames.at(-1)?.at ?? 0) + holdMs;
  const stops = frames.map(({ at }, index) => {
    const place = index === frames.length - 1 ? 0 : -(index + 1) * height;
    return `${tidy((at / lengthMs) * 100)}%{transform:translateY(${place}px)}`;
  });
  return [
    `@keyframes play{${stops.join('')}100%{transform:translateY(0px)}}`,
    '@media (prefers-reduced-motion:no-preference){',
    `.strip{animation:play ${tidy(lengthMs / 1_000)}s step-end infinite}`,
    '}',
  ].join('\n');
}

function widthOf(runs: readonly Run[]): number {
  const last = runs.at(-1);
  return last === undefined ? 0 : last.column + last.text.trimEnd().length;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Without the noise of binary fractions. */
function tidy(number: number): number {
  return Number(number.toFixed(2));
}
