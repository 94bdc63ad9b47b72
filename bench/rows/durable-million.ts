import type { Bench, BenchContext, Figures, Row } from '../kit/bench.ts';
import { isolated } from '../kit/isolated.ts';

const TASKS = 1_000_000;

export const durableMillion: Bench = {
  name: 'durable-million',
  about:
    '1,000,000 waiting tasks of 1,000 users, each with a payload of its own of 100 bytes. One process stores ' +
    'them and closes; the next one opens the folder, and its heap is measured after a full collection; a third ' +
    'writes 100 kB into the log every few ms until a snapshot of it all has been made: the longest delay of its ' +
    'event loop.',
  sides: [{ name: 'fairloom', run: million }],
  rows: [
    row('disk per waiting task, once closed', 'bytes', 'diskBytes', 400),
    row('open with a million waiting tasks', 'ms', 'openMs', 8_000),
    row('heap per waiting task', 'bytes', 'heapPerTask', 1_024),
    {
      ...row(
        'longest delay of the event loop: without a snapshot / while one is made',
        'ms',
        'before',
      ),
      metrics: ['before', 'during'],
    },
  ],
  rounds: 1,
};

async function million(context: BenchContext): Promise<Figures> {
  const place = await context.folder();
  const order = { side: 'fairloom', size: context.size(TASKS), place };
  const filled = await isolated({ ...order, module: 'durable-fill' });
  const opened = await isolated({ ...order, module: 'durable-open' });
  const stalled = await isolated({ ...order, module: 'durable-stall' });
  return { ...filled, ...opened, ...stalled };
}

function row(measure: string, unit: string, metric: string, most?: number): Row {
  const goals = most === undefined ? [] : [{ kind: 'most', metric, value: most } as const];
  return { table: 'durable', measure, metrics: [metric], unit, better: 'less', goals };
}
