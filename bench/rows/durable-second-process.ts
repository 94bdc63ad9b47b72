import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { atLeast, durableRow } from '../kit/durable-sides.ts';
import { storeTasks } from '../kit/enqueue-round.ts';
import { openFleet } from '../kit/fleet.ts';
import { rounded } from '../kit/statistics.ts';
import { fairloom } from '../sides/fairloom.ts';

const TASKS = 60_000;

export const durableSecondProcess: Bench = {
  name: 'durable-second-process',
  about:
    'The bench has the folder open; another process with 100 slots works off what was stored before.',
  sides: [{ name: 'fairloom', run: secondProcess }],
  rows: [durableRow('process, 100 slots in a second process', atLeast(15_000))],
};

async function secondProcess(context: BenchContext): Promise<Figures> {
  const tasks = context.size(TASKS);
  const url = await context.folder();
  const owner = await fairloom.producer(url);
  await storeTasks(owner, 'batches', tasks);
  const work = { slots: 100, handlerMs: 0, delayed: false, keepStarts: false } as const;
  const fleet = await openFleet({ ...work, side: 'fairloom', url, processes: 1 });
  try {
    await fleet.start();
    await fleet.handled(tasks);
    const { count, firstAt, lastAt, cpuUs } = await fleet.finish();
    return {
      perSecond: rounded((count / (lastAt - firstAt)) * 1_000),
      workerCpuUs: rounded(cpuUs / count),
    };
  } finally {
    fleet.kill();
    await owner.close();
  }
}
