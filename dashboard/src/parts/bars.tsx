/** Small drawings: parts of a whole, shares, and how far a user stands from its own. */
import type { VNode } from 'preact';
import { percentText, signedText } from '../words/numbers.ts';

/** A part of a whole, 0 to 1; the figure stands beside it as text. */
export function Bar({ part, kind = '' }: { readonly part: number; readonly kind?: string }): VNode {
  return (
    <span class={`bar ${kind}`} aria-hidden="true">
      <i style={{ width: `${Math.min(1, Math.max(0, part)) * 100}%` }} />
    </span>
  );
}

interface ShareBarProps {
  readonly share: number;
  readonly fair: number;
  /** The share that fills the bar. */
  readonly widest: number;
}

/** The share that a user has, and a tick at the one that its weight claims. */
export function ShareBar({ share, fair, widest }: ShareBarProps): VNode {
  const placeOf = (part: number): string => `${Math.min(1, part / widest) * 100}%`;
  return (
    <div class="share">
      <span class="bar" aria-hidden="true">
        <i style={{ width: placeOf(share) }} />
        <u style={{ left: placeOf(fair) }} />
      </span>
      <span class="n">{percentText(share)}</span>
      <span class="of">of {(fair * 100).toFixed(1)}</span>
    </div>
  );
}

const GAUGE = { width: 88, height: 32, edge: 5, most: 1.6 };

/** Turns ahead of the fair share, in the band of one turn in which everybody stays. */
export function AheadGauge({ ahead }: { readonly ahead: number }): VNode {
  const { width, height } = GAUGE;
  const isOut = Math.abs(ahead) > 1;
  const x = placeOf(ahead);
  return (
    <div class={isOut ? 'ahead is-out' : 'ahead'}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <rect x={placeOf(-1)} width={placeOf(1) - placeOf(-1)} height={height} fill="var(--band)" />
        <path d={`M${placeOf(0)} 0V${height}`} stroke="var(--woad-mid)" stroke-dasharray="2 3" />
        <path d={`M${placeOf(0)} ${height / 2}H${x}`} stroke="var(--woad)" stroke-width="1.5" />
        <path
          d={`M${x - 5} ${height / 2}l5-4.5 5 4.5-5 4.5z`}
          fill={isOut ? 'var(--weld)' : 'var(--woad)'}
        />
      </svg>
      <span class="n">{signedText(ahead)}</span>
    </div>
  );
}

function placeOf(ahead: number): number {
  const { width, edge, most } = GAUGE;
  return width / 2 + (Math.max(-most, Math.min(most, ahead)) / most) * (width / 2 - edge);
}

const TRACE = { width: 120, height: 32, most: 1.6 };

/** How far ahead it was in the last readings of this page: all marks inside of the band keep the promise. */
export function AheadTrace({ readings }: { readonly readings: readonly number[] }): VNode {
  const { width, height, most } = TRACE;
  const y = (ahead: number): number =>
    height / 2 - (Math.max(-most, Math.min(most, ahead)) / most) * (height / 2 - 2);
  const step = width / TRACE_READINGS;
  const from = TRACE_READINGS - readings.length;
  const line = readings
    .map((ahead, at) => `${(from + at) * step},${y(ahead).toFixed(1)}`)
    .join(' ');
  const low = Math.min(...readings);
  const high = Math.max(...readings);
  const label =
    readings.length === 0
      ? 'not read yet'
      : `between ${signedText(low)} and ${signedText(high)} turns in the last ${readings.length} readings`;
  return (
    <svg
      class="trace"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      <rect y={y(1)} width={width} height={y(-1) - y(1)} fill="var(--band)" />
      <path d={`M0 ${y(0)}H${width}`} stroke="var(--woad-mid)" stroke-dasharray="2 3" />
      <polyline points={line} fill="none" stroke="var(--woad)" stroke-width="1.5" />
    </svg>
  );
}

/** So many readings make one trace. */
export const TRACE_READINGS = 60;
