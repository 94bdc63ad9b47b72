/** Lines over time on one scale. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../state/theme.ts';

/** One line. */
export interface ChartLine {
  readonly name: string;
  /** A token of the style sheet, as `--woad`. */
  readonly ink: string;
  readonly values: readonly (number | undefined)[];
  readonly isDashed?: boolean;
}

interface LineChartProps {
  /** What the picture says, in a sentence. */
  readonly label: string;
  /** Moments in ms, one for each value. */
  readonly at: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly unit: (value: number) => string;
}

const HEIGHT = 184;

/** Drawn anew when the theme or the width changes; else only its data. */
export function LineChart({ label, at, lines, unit }: LineChartProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const inks = theme.value;
  const names = lines.map(({ name }) => name).join();
  const data = dataOf(at, lines);
  const newest = useRef(data);
  newest.current = data;
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return;
    const made = new uPlot(optionsOf(lines, unit, parent.clientWidth), newest.current, parent);
    plot.current = made;
    const watch = new ResizeObserver(() =>
      made.setSize({ width: parent.clientWidth, height: HEIGHT }),
    );
    watch.observe(parent);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [inks, names]);
  useEffect(() => plot.current?.setData(data));
  return (
    <figure class="line-chart">
      <div ref={box} role="img" aria-label={label} />
      <figcaption class="legend">
        {lines.map(({ name, ink, isDashed }) => (
          <span key={name}>
            <svg width="16" height="8" viewBox="0 0 16 8" aria-hidden="true">
              <path
                d="M0 4H16"
                stroke={`var(${ink})`}
                stroke-width="2"
                stroke-dasharray={isDashed === true ? '4 3' : undefined}
              />
            </svg>
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function dataOf(at: readonly number[], lines: readonly ChartLine[]): uPlot.AlignedData {
  const seconds = at.map((moment) => moment / 1_000);
  return [seconds, ...lines.map(({ values }) => values.map((value) => value ?? null))];
}

function optionsOf(
  lines: readonly ChartLine[],
  unit: (value: number) => string,
  width: number,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const ink = (token: string): string => inkOf(style, token);
  const axis = { stroke: ink('--ink-3'), font: `11px ${style.getPropertyValue('--font')}` };
  const grid = { stroke: ink('--line'), width: 1 };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high, 1) * 1.1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ticks: grid,
        values: (_plot, seconds) => seconds.map(clockText),
      },
      {
        ...axis,
        grid,
        ticks: { show: false },
        size: 56,
        // Fractions of a task or of a millisecond get no label.
        values: (_plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? unit(tick) : '')),
      },
    ],
    series: [
      {},
      ...lines.map(({ name, ink: token, isDashed }) => ({
        label: name,
        stroke: ink(token),
        width: 1.5,
        points: { show: false },
        ...(isDashed === true ? { dash: [4, 3] } : {}),
      })),
    ],
  };
}

/** A canvas knows no tokens, and nothing of light and dark: the browser works out the colour. */
function inkOf(style: CSSStyleDeclaration, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = style.getPropertyValue(token);
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function clockText(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
  });
}
