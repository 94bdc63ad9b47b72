/** Shared parts of the benches of queues that acknowledge after the write to disk. */
import type { DurableWay } from '../durable/throughput.ts';
import type { BenchContext, BenchSide, Goal, Row, SideName } from './bench.ts';
import { isolated } from './isolated.ts';

/** Sides that support everything. */
export const DURABLE_SIDES: readonly SideName[] = ['fairloom', 'plainjob', 'bullmq'];

/** How many tasks; fewer for other libraries if a round would take too long. */
export type Sizes = Readonly<Partial<Record<SideName, number>>> & { readonly fairloom: number };

/** Each side in a process of its own, with its tasks in this way. */
export function durableSides(
  way: DurableWay,
  sides: readonly SideName[],
  sizes: Sizes,
): readonly BenchSide[] {
  return sides.map((side) => ({
    name: side,
    run: async (context) => {
      const size = context.size(sizes[side] ?? sizes.fairloom);
      const place = await placeOf(side, context);
      return isolated({ module: 'durable-throughput', side, size, place, way });
    },
  }));
}

/** Tasks/s, and the goal. */
export function durableRow(measure: string, goal: Goal): Row {
  return {
    table: 'durable',
    measure,
    metrics: ['perSecond'],
    unit: 'tasks/s',
    better: 'more',
    goals: [goal],
  };
}

/** At least this many tasks/s. */
export function atLeast(value: number): Goal {
  return { kind: 'least', metric: 'perSecond', value };
}

async function placeOf(side: SideName, context: BenchContext): Promise<string> {
  return side === 'bullmq' ? (await context.syncedRedis()).url : context.folder();
}
