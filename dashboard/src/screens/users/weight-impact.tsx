/** Everybody's share before and after a change of one weight. */
import type { VNode } from 'preact';
import type { UserRow } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Bar } from '../../parts/bars.tsx';
import { useReading } from '../../state/readings.ts';
import { percentText } from '../../words/numbers.ts';

/** Fewer rows say more. */
const SHOWN = 8;

interface WeightImpactProps {
  readonly row: UserRow;
  readonly weight: number;
}

/** Among those that are in line now, this one included. */
export function WeightImpact({ row, weight }: WeightImpactProps): VNode | null {
  const { value } = useReading(source('GET /users', [], { queue: row.queue, limit: 500 }));
  if (value === undefined) return null;
  const others = value.items.filter(({ user, ready }) => ready && user !== row.user);
  const rest = others.reduce((sum, { settings }) => sum + settings.weight, 0);
  const lines = [
    { user: row.user, was: row.settings.weight, is: weight },
    ...others
      .map(({ user, settings }) => ({ user, was: settings.weight, is: settings.weight }))
      .sort((a, b) => b.was - a.was)
      .slice(0, SHOWN),
  ];
  return (
    <ul class="impact" aria-label="Shares before and after">
      {lines.map(({ user, was, is }) => {
        const before = was / (rest + row.settings.weight);
        const after = is / (rest + weight);
        return (
          <li key={user} class={user === row.user ? 'is-it' : ''}>
            <span class="cut">{user}</span>
            <span class="pair">
              <Bar part={before} kind="was" />
              <Bar part={after} kind="is" />
            </span>
            <span class="num">{percentText(before)}</span>
            <span class="arrow">→</span>
            <span class="num strong">{percentText(after)}</span>
          </li>
        );
      })}
    </ul>
  );
}
