/** What the bench asks of a queue whose answers are on the disk, in one process. */
import type { Adder } from '../kit/enqueue-round.ts';

export interface DurableQueue extends Adder {
  /** Starts so many slots, whose handler does nothing but count. */
  work(slots: number, handled: () => void): Promise<void>;
  close(): Promise<void>;
}

/** Opens the one of this name at its place. */
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
