/** The interface of a queue that acknowledges after the write to disk, in one process. */
import type { Adder } from '../kit/enqueue-round.ts';

export interface DurableQueue extends Adder {
  /** Starts this many slots, whose handler only counts. */
  work(slots: number, handled: () => void): Promise<void>;
  close(): Promise<void>;
}

/** Opens the queue of this name. */
export async function openQueue(side: string, place: string): Promise<DurableQueue> {
  switch (side) {
    case 'plainjob':
      return (await import('./plainjob.ts')).openPlainjob(place);
    case 'bullmq':
      return (await import('./bullmq.ts')).openBullmq(place);
    case 'fdatasync':
      return (await import('./fdatasync.ts')).openFile(place);
    default:
      return (await import('./fairloom.ts')).openFairloom(place);
  }
}
