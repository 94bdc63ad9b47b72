/** The process of one isolated measurement; see `isolated.ts`. */
import type { Figures } from './bench.ts';
import type { IsolatedOrder, IsolatedReply } from './isolated.ts';

const order: IsolatedOrder = JSON.parse(process.argv[2] ?? '{}');
const figures = await measure(order);
const { user, system } = process.cpuUsage();
const reply: IsolatedReply = { figures, processUs: user + system };
process.send?.(reply, () => process.exit(0));

async function measure({ module, side, size, place = '', way }: IsolatedOrder): Promise<Figures> {
  switch (module) {
    case 'throughput':
      return (await import('../embedded/throughput.ts')).measure(side, size);
    case 'heap':
      return (await import('../embedded/heap.ts')).measure(size);
    case 'lease-cost':
      return (await import('../embedded/lease-cost.ts')).measure(size);
    case 'driven-nodes':
      return (await import('../embedded/driven-nodes.ts')).measure(side, size);
    case 'stream-writer':
      return (await import('../embedded/stream-writer.ts')).measure(side);
    case 'durable-throughput':
      return (await import('../durable/throughput.ts')).measure({ side, size, place, way });
    case 'durable-fill':
      return (await import('../durable/million.ts')).fillFolder(place, size);
    case 'durable-open':
      return (await import('../durable/million.ts')).openFolder(place, size);
    case 'durable-stall':
      return (await import('../durable/stall.ts')).measure(place);
  }
}
