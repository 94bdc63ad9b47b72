import { Worker as Thread } from 'node:worker_threads';
import type { Disk } from '../log/disk.ts';
import type { LogEnd } from '../log/recovery.ts';
import { compactionProgram } from './compaction-program.generated.ts';

/** A snapshot was not made. The log has all of it still. */
class NoSnapshotError extends Error {
  /** The name of the class. */
  override readonly name = 'NoSnapshotError';
}

/** What the thread is to do. */
export interface CompactionOrder {
  readonly folder: string;
  /** The number of the last commit that the snapshot has. */
  readonly upTo: number;
  /** How far the log is written by now. */
  readonly written: LogEnd | undefined;
}

/** What has become of it. */
export type CompactionAnswer = { readonly stateBytes: number } | { readonly failed: string };

/** Makes snapshots in a thread of their own, one at a time, while the owner goes on. */
export class Compaction {
  readonly #disk: Disk;
  #thread: Thread | undefined = undefined;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /**
   * The snapshot of the state after a commit; the log has to be written so far that it has everything up to
   * that, and may grow meanwhile. Returns the length of its lines.
   *
   * @throws when it was not made, for any reason.
   */
  async run(upTo: number, written?: LogEnd): Promise<number> {
    if (this.#thread !== undefined) throw new NoSnapshotError('a snapshot is being made');
    const order: CompactionOrder = { folder: this.#disk.folder, upTo, written };
    // Not with the options of this process: they may be about loaders of code, of which it needs none.
    const thread = new Thread(compactionProgram, { eval: true, workerData: order, execArgv: [] });
    this.#thread = thread;
    thread.unref();
    try {
      const answer = await answerOf(thread);
      if ('failed' in answer)
        throw new NoSnapshotError(`the snapshot was not made: ${answer.failed}`);
      return answer.stateBytes;
    } finally {
      this.#thread = undefined;
      await thread.terminate();
    }
  }

  /** Ends the one that is being made; there is no snapshot of it. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
  }
}

function answerOf(thread: Thread): Promise<CompactionAnswer> {
  return new Promise((resolve, reject) => {
    thread.on('message', resolve);
    thread.on('error', reject);
    thread.on('exit', (code) =>
      reject(
        new NoSnapshotError(`the snapshot was not made: its thread has ended (exit code ${code})`),
      ),
    );
  });
}
