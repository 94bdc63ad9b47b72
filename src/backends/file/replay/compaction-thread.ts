/** The program of the thread that makes snapshots: see `Compaction`. */
import { parentPort, workerData } from 'node:worker_threads';
import { diskIn } from '../log/disk.ts';
import { compact } from './compact.ts';
import type { CompactionAnswer, CompactionOrder } from './compaction.ts';

const order: CompactionOrder = workerData;

compact(diskIn(order.folder), order.upTo, order.written).then(
  (stateBytes) => answer({ stateBytes }),
  (error: unknown) => answer({ failed: error instanceof Error ? error.message : String(error) }),
);

function answer(message: CompactionAnswer): void {
  parentPort?.postMessage(message);
}
