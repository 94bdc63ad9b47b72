import type { Clock } from '../base/time.ts';
import type { TaskInfo } from '../client/facades/task-info.ts';
import type { MeasuredClient } from '../core/instruments.ts';
import type { WaitFigure } from '../domain/task/wait.ts';
import type { Sample } from './table.ts';

const MS_PER_SECOND = 1_000;

/** Deferred tasks per read, and most of their dependencies; the next read continues after them. */
const LOOKED_AT = 50;

/**
 * Figures of dependencies: the number of missing ids of all tasks; for some tasks the number of
 * open dependencies, and the number of dependents of these.
 */
export class DependencyFigures {
  readonly #loom: Pick<MeasuredClient, 'tasks'>;
  readonly #clock: Clock;
  /** Cursor of the next read; absent for the first page. */
  #cursor: string | undefined;

  constructor(loom: Pick<MeasuredClient, 'tasks'>, clock: Clock) {
    this.#loom = loom;
    this.#clock = clock;
  }

  async look(): Promise<readonly Sample[]> {
    const { tasks } = this.#loom;
    const [missing, waiting, page] = await Promise.all([
      tasks.missing(),
      tasks.waiting(),
      tasks.list({ state: 'deferred', limit: LOOKED_AT, cursor: this.#cursor }),
    ]);
    this.#cursor = page.cursor;
    const fanOut = await this.#fanOut(page.items);
    return [
      { key: 'missing', labels: {}, value: missing },
      ...waiting.flatMap((figure) => this.#waiting(figure)),
      ...unmetOf(page.items),
      ...fanOut,
    ];
  }

  #waiting({ kind, count, since }: WaitFigure): readonly Sample[] {
    const labels = { kind };
    const seconds = since === undefined ? 0 : (this.#clock.now() - since) / MS_PER_SECOND;
    return [
      { key: 'waiting', labels, value: count },
      { key: 'waitingOldest', labels, value: Math.max(0, seconds) },
    ];
  }

  /** Number of dependents of each dependency of these tasks. */
  async #fanOut(tasks: readonly TaskInfo[]): Promise<readonly Sample[]> {
    const ids = [...new Set(tasks.flatMap(({ blockedBy }) => blockedBy))].slice(0, LOOKED_AT);
    if (ids.length === 0) return [];
    const pages = await Promise.all(ids.map((id) => this.#loom.tasks.dependents(id, { limit: 1 })));
    const counts = pages.map(({ count }) => count);
    const at = (stat: string, value: number): Sample => {
      return { key: 'dependents', labels: { stat }, value };
    };
    const total = counts.reduce((sum, count) => sum + count, 0);
    return [at('largest', Math.max(...counts)), at('total', total)];
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
