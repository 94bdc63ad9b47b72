/** Symbols on a grid of 16: places, states, what keeps a user from its turn, and what can be done. */
import type { VNode } from 'preact';

/** Drawn with a pen of 1.5, unless it says otherwise. */
interface Stroke {
  readonly d: string;
  readonly pen?: number;
  readonly dash?: string;
  readonly solid?: true;
  /** In the colour of the ground, over what is solid. */
  readonly cut?: true;
}

const circle = (x: number, y: number, r: number): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
const line = (d: string, more: Partial<Stroke> = {}): Stroke => ({ d, ...more });
const solid = (d: string): Stroke => ({ d, solid: true });

const IN_LINE = [line('M2.5 8h.01M6.2 8h.01', { pen: 2 }), line('M9 8h5M11.5 5.2 14.2 8l-2.7 2.8')];

const ICONS = {
  overview: [line('M2 11.5h2.5l2-7 3 9 2-5H14')],
  users: [
    line('M2.5 2v12M6.2 2v12M9.8 2v12M13.5 2v12'),
    line('M1 6h3M8.3 6h3M4.7 10.3h3M12 10.3h3', { pen: 2.6 }),
  ],
  queues: [line('M2 4h12M2 8h12M2 12h12'), solid('M4 2.5h3v3H4zM9 6.5h3v3H9zM5 10.5h3v3H5z')],
  tasks: [line('M2 4h1.5M6 4h8M2 8h1.5M6 8h8M2 12h1.5M6 12h5')],
  runs: [
    line('M5 8h2.5M11 4H9.5A2 2 0 0 0 7.5 6v4a2 2 0 0 0 2 2H11'),
    line('M1.5 6.5H5v3H1.5zM11 2.5h3.5v3H11zM11 10.5h3.5v3H11z'),
  ],
  dead: [line('M2 8h4l-1.2-2M14 8h-4l1.2 2M8 2v2.5M8 11.5V14')],
  schedules: [line(circle(8, 8, 6)), line('M8 4.5V8l2.5 1.5')],
  workers: [line('M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2z'), solid('M9 9h5v5H9z')],
  asks: [line('M2 3h12v8H7l-3 2.5V11H2z'), line('M5.5 7 7.2 8.500l3.3-3')],
  bulk: [line('M2 5h9v8H2z'), line('M4.5 5V2.500H14v8h-3')],
  audit: [line('M3 2h7l3 3v9H3zM5.5 7h5M5.5 10h5')],
  scheduled: [line(circle(8, 8, 5.5)), line('M8 5v3l2 1.5')],
  deferred: [
    line(circle(4, 8, 2.3)),
    line(circle(12, 8, 2.3), { dash: '2 2' }),
    line('M6.3 8h3.4'),
  ],
  queued: IN_LINE,
  started: [line(circle(8, 8, 6)), solid('M6.5 5.2v5.6L11 8z')],
  finished: [line('M3 8.5 6.5 12 13 4.5', { pen: 2 })],
  failed: [
    solid('M5.2 1.500h5.600l3.7 3.700v5.600l-3.7 3.700H5.200l-3.7-3.700V5.200z'),
    line('M5.6 5.600l4.8 4.800M10.4 5.600l-4.8 4.8', { pen: 1.6, cut: true }),
  ],
  canceled: [line(circle(8, 8, 5.5)), line('M4.2 11.8l7.6-7.6')],
  pending: [line(circle(8, 8, 5.5), { dash: '2.3 2.3' })],
  skipped: [
    line('M2.5 2.5h11v11h-11z', { dash: '2 2' }),
    line('M5 5.5 7.5 8 5 10.500M8.5 5.5 11 8l-2.5 2.5'),
  ],
  gone: [line(circle(8, 8, 5.5), { dash: '1 3' })],
  lost: [line('M6 2v3M10 2v3M4.5 5h7v2.5a3.5 3.5 0 0 1-7 0zM8 11v3'), line('M2 14 14 2')],
  paused: [solid('M4 3h2.800v10H4zM9.2 3H12v10H9.200z')],
  limit: [line('M2.5 3h11M8 13V6.5M5 9l3-3 3 3')],
  rate: [line('M2.5 12a6 6 0 1 1 11 0M8 10l2.5-4')],
  idle: [line('M4 8h8')],
  line: IN_LINE,
  ok: [line(circle(8, 8, 6)), line('M5.3 8.2 7.2 10l3.5-4')],
  warn: [line('M8 2 14.5 13.5h-13zM8 6.5v3M8 11.6v.01')],
  search: [line(circle(7, 7, 4.5)), line('M10.5 10.5 14 14')],
  copy: [line('M5.5 5.5h8v8h-8z'), line('M10.5 3.5v-1h-8v8h1')],
  more: [solid('M3 6.8h2.2V9H3zM6.9 6.800h2.200V9H6.900zM10.8 6.800H13V9h-2.200z')],
  close: [line('M4 4l8 8M12 4l-8 8')],
  right: [line('M6 3.5 10.5 8 6 12.5')],
  down: [line('M3.5 6 8 10.5 12.5 6')],
  again: [line('M13 8a5 5 0 1 1-1.7-3.8M13 1.8v3h-3')],
  play: [solid('M4.5 2.8v10.4L13 8z')],
  theme: [line(circle(8, 8, 5.5)), solid('M8 2.5a5.5 5.5 0 0 1 0 11z')],
  help: [line('M5.5 6a2.5 2.5 0 1 1 3.4 2.400c-.6.3-.9.7-.9 1.400M8 12.500v.01')],
  lock: [line('M3 7h10v6.500H3z'), line('M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2')],
  weight: [line('M3 13.500h10L11.5 6h-7zM8 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4z')],
} as const satisfies Readonly<Record<string, readonly Stroke[]>>;

/** What can be drawn. */
export type IconName = keyof typeof ICONS;

/** A symbol beside a word; what it says stands in the word. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }): VNode {
  const strokes: readonly Stroke[] = ICONS[name];
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {strokes.map((stroke) => (
        <path key={stroke.d} d={stroke.d} {...penOf(stroke)} />
      ))}
    </svg>
  );
}

function penOf({ pen = 1.5, dash, solid: isSolid, cut }: Stroke): Readonly<Record<string, string>> {
  if (isSolid === true) return { fill: 'currentColor' };
  return {
    fill: 'none',
    stroke: cut === true ? 'var(--surface)' : 'currentColor',
    'stroke-width': String(pen),
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
    ...(dash === undefined ? {} : { 'stroke-dasharray': dash }),
  };
}

/** The mark: a 2/2 twill, as weavers write it down. */
export function Twill({ size = 20 }: { size?: number }): VNode {
  const cells = Array.from({ length: 16 }, (_, at) => ({
    column: at % 4,
    row: Math.floor(at / 4),
  }));
  return (
    <svg width={size} height={size} viewBox="0 0 19 19" aria-hidden="true" fill="currentColor">
      {cells.map(({ column, row }) => (
        <rect
          key={`${column}/${row}`}
          x={column * 5}
          y={row * 5}
          width="4"
          height="4"
          opacity={(column + row) % 4 < 2 ? 1 : 0.22}
        />
      ))}
    </svg>
  );
}
