/** How a user has fared lately: how long it waits, and when its line will be empty. */
import type { VNode } from 'preact';
import { source } from '../../api/sources.ts';
import { type Figure, Figures } from '../../parts/panel.tsx';
import { useReading } from '../../state/readings.ts';
import { lengthText } from '../../words/lengths.ts';
import { rateText } from '../../words/numbers.ts';

/** The oldest that waits stands first: figures of what has started are silent when nothing starts. */
export function HistoryFigures({
  user,
  queue,
}: {
  readonly user: string;
  readonly queue: string;
}): VNode | null {
  const { value } = useReading(source('GET /users/{user}/history', [user], { queue }));
  if (value === undefined) return null;
  const { oldestWaitMs, wait, run, perMinute, etaMs } = value;
  const figures: readonly (Figure | undefined)[] = [
    oldestWaitMs === undefined
      ? undefined
      : { name: 'Oldest in line', value: lengthText(oldestWaitMs) },
    wait === undefined
      ? undefined
      : { name: 'Wait p50, p95', value: `${lengthText(wait.p50)}, ${lengthText(wait.p95)}` },
    run === undefined
      ? undefined
      : { name: 'Run p50, p95', value: `${lengthText(run.p50)}, ${lengthText(run.p95)}` },
    { name: 'Starts', value: rateText(perMinute), of: 'a minute' },
    etaMs === undefined ? undefined : { name: 'Its last task starts in', value: lengthText(etaMs) },
  ];
  return <Figures figures={figures.filter((one) => one !== undefined)} />;
}
