import type { MeasuredClient } from '../engine/instruments.ts';
import type { TaskInfo } from '../engine/task-info.ts';
import type { Sample } from './table.ts';

/** Deferred tasks that one look asks about; the next one asks about those behind them. */
const LOOKED_AT = 50;

/** What tasks wait for: of all of them how many ids are missing, of some how many are left. */
export class DependencyFigures {
  readonly #loom: Pick<MeasuredClient, 'tasks'>;
  /** Where the next look goes on; absent at the first one, and when the last page was read. */
  #cursor: string | undefined;

  constructor(loom: Pick<MeasuredClient, 'tasks'>) {
    this.#loom = loom;
  }

  async look(): Promise<readonly Sample[]> {
    const { tasks } = this.#loom;
    const [missing, page] = await Promise.all([
      tasks.missing(),
      tasks.list({ state: 'deferred', limit: LOOKED_AT, cursor: this.#cursor }),
    ]);
    this.#cursor = page.cursor;
    return [{ key: 'missing', labels: {}, value: missing }, ...unmetOf(page.items)];
  }
}

function unmetOf(tasks: readonly TaskInfo[]): readonly Sample[] {
  const sizes = new Map<string, number[]>();
  for (const { queue, blockedBy } of tasks) {
    const known = sizes.get(queue);
    if (known === undefined) sizes.set(queue, [blockedBy.length]);
    else known.push(blockedBy.length);
  }
  return [...sizes].flatMap(([queue, unsorted]): Sample[] => {
    const sorted = unsorted.sort((one, other) => one - other);
    const at = (quantile: string, rank: number): Sample => {
      return { key: 'unmet', labels: { queue, quantile }, value: sorted[rank] ?? 0 };
    };
    return [at('0.5', (sorted.length - 1) >> 1), at('1', sorted.length - 1)];
  });
}
