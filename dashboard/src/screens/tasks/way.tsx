/** A task's way: where it waited, where it ran, and which end it took of those that there were. */

import type { VNode } from 'preact';
import type { TaskDetails } from '../../api/shapes.ts';
import { Scroller } from '../../parts/scroller.tsx';
import { now } from '../../state/clock.ts';
import { lengthText } from '../../words/lengths.ts';
import { type Stay, staysOf } from './stays.ts';

const WIDTH = 1080;
const HEIGHT = 132;
const LEFT = 84;
const RIGHT = 150;
const LEVELS = { runs: 40, waits: 92 } as const;
/** Between two stays. */
const GAP = 18;
const LEAST = 26;
/** More are one. */
const MOST_STAYS = 24;
const ENDS = ['finished', 'failed', 'canceled'] as const;

interface Placed extends Stay {
  readonly x: number;
  readonly width: number;
}

/** Stays from left to right, and the three ends. */
export function Way({ task }: { readonly task: TaskDetails }): VNode {
  const all = staysOf(task, now.value);
  const stays = placed(all.slice(-MOST_STAYS));
  const last = stays.at(-1);
  const hasEnded = ENDS.some((end) => end === task.state);
  const left = all.length - stays.length;
  return (
    <Scroller label="The way of the task">
      <svg
        class="way chart"
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={spoken(task, all)}
      >
        <defs>
          <pattern
            id="waits"
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="2" height="6" fill="var(--hatch)" />
          </pattern>
        </defs>
        {(['runs', 'waits'] as const).map((kind) => (
          <g key={kind}>
            <text x="12" y={LEVELS[kind] + 4} class="way-name">
              {kind}
            </text>
            <path class="way-level" d={`M${LEFT - 16} ${LEVELS[kind]}H${WIDTH - RIGHT}`} />
          </g>
        ))}
        {stays.map((stay, at) => (
          <StayMark key={stay.from} stay={stay} next={stays[at + 1]} />
        ))}
        {last === undefined
          ? null
          : ENDS.map((end, at) => (
              <EndMark
                key={end}
                end={end}
                at={at}
                last={last}
                isTaken={hasEnded && task.state === end}
              />
            ))}
        {left > 0 ? (
          <text x={LEFT - 16} y={HEIGHT - 4}>
            {left} stays before these
          </text>
        ) : null}
      </svg>
    </Scroller>
  );
}

/** Lengths grow with the root of time, so that a second can be seen beside an hour. */
function placed(stays: readonly Stay[]): readonly Placed[] {
  const roots = stays.map(({ from, to }) => Math.sqrt(Math.max(1, to - from)));
  const total = roots.reduce((sum, root) => sum + root, 0);
  const free = WIDTH - LEFT - RIGHT - stays.length * (GAP + LEAST);
  let x = LEFT;
  return stays.map((stay, at) => {
    const width = LEAST + (Math.max(0, free) * (roots[at] ?? 0)) / Math.max(1, total);
    const mark = { ...stay, x, width };
    x += width + GAP;
    return mark;
  });
}

function StayMark({
  stay,
  next,
}: {
  readonly stay: Placed;
  readonly next: Placed | undefined;
}): VNode {
  const { kind, x, width, attempt, outcome, from, to } = stay;
  const y = LEVELS[kind];
  const middle = x + width / 2;
  const link =
    next === undefined
      ? undefined
      : `M${x + width} ${y}C${x + width + GAP / 2} ${y} ${next.x - GAP / 2} ${LEVELS[next.kind]} ${next.x} ${LEVELS[next.kind]}`;
  return (
    <g>
      {kind === 'runs' ? (
        <rect
          class={`way-run o-${outcome ?? 'running'}`}
          x={x}
          y={y - 10}
          width={width}
          height="20"
        />
      ) : (
        <rect x={x} y={y - 4} width={width} height="8" fill="url(#waits)" />
      )}
      {attempt === undefined ? null : (
        <text class="way-n" x={middle} y={y + 4} text-anchor="middle">
          {outcome === 'lost' ? 'lost' : attempt}
        </text>
      )}
      <text x={middle} y={kind === 'runs' ? y - 16 : y + 20} text-anchor="middle">
        {lengthText(to - from)}
      </text>
      {link === undefined ? null : <path class="way-link" d={link} />}
    </g>
  );
}

interface EndMarkProps {
  readonly end: string;
  readonly at: number;
  readonly last: Placed;
  readonly isTaken: boolean;
}

function EndMark({ end, at, last, isTaken }: EndMarkProps): VNode {
  const x = WIDTH - RIGHT + 56;
  const y = 30 + at * 38;
  const from = last.x + last.width;
  const start = LEVELS[last.kind];
  return (
    <g class={isTaken ? `t-${end} is-taken` : ''}>
      <path
        class="way-end"
        d={`M${from} ${start}C${from + 40} ${start} ${x - 50} ${y} ${x - 8} ${y}`}
      />
      <text class="way-name" x={x} y={y + 4}>
        {end}
      </text>
    </g>
  );
}

function spoken(task: TaskDetails, stays: readonly Stay[]): string {
  const runs = stays.filter(({ kind }) => kind === 'runs');
  const sum = (some: readonly Stay[]): number =>
    some.reduce((total, { from, to }) => total + to - from, 0);
  const waited = sum(stays) - sum(runs);
  return `It waited ${lengthText(waited)}, ran ${runs.length} times for ${lengthText(sum(runs))}, and is ${task.state}`;
}
