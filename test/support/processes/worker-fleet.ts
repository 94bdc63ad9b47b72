/** Worker processes under a supervisor: started, hurt, watched and, at the end, gone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What is run unless the setup says otherwise. */
const SCRIPT = fileURLToPath(new URL('./worker-process.mjs', import.meta.url));
/** How much of what a process says is kept, in characters. */
const KEPT = 4_000;

/** What a worker process is told. */
export interface WorkerSetup {
  readonly id: string;
  readonly url: string;
  readonly prefix: string;
  /** A data folder, in place of Redis. */
  readonly data?: string;
  /** Nodes of a Cluster, in place of one server. */
  readonly nodes?: readonly { readonly host: string; readonly port: number }[];
  /** Path of the ledger. */
  readonly ledger: string;
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly concurrency: number;
  /** Path of another script to run. */
  readonly script?: string;
  /** Arguments of node itself, for example a limit of its heap. */
  readonly node?: readonly string[];
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Ms since the epoch. */
  readonly at: number;
}

/** What this process started and has not seen end, so that nothing outlives it. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class WorkerProcess {
  readonly id: string;
  /** Fulfilled when it has ended, however it did. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #exit: Exit | undefined;
  #said = '';

  constructor(setup: WorkerSetup) {
    this.id = setup.id;
    const args = [...(setup.node ?? []), setup.script ?? SCRIPT, JSON.stringify(setup)];
    // A process that aborts may leave a core file: not among the sources.
    const cwd = tmpdir();
    this.#child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#said = (this.#said + chunk.toString()).slice(-KEPT);
      });
    }
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        running.delete(this.#child);
        this.#exit = { code, signal, at: Date.now() };
        resolve(this.#exit);
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  /** The last of what it wrote to stdout and stderr. */
  get said(): string {
    return this.#said;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(): Promise<Exit> {
    if (this.isRunning) this.signal('SIGKILL');
    return this.exited;
  }
}
