/** Worker processes of one side, from start to report. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { countChild } from './quiet.ts';
import type { FromWorker, ToWorker, WorkerOrder, WorkerReport } from './worker-messages.ts';

export interface Fleet {
  /** Starts all workers and answers when they run. */
  start(): Promise<void>;
  /** Answers when all together have handled this many tasks. */
  handled(tasks: number): Promise<void>;
  /** Ends all workers cleanly. */
  finish(): Promise<WorkerReport>;
  /** Ends them at once; safe to call after `finish`. */
  kill(): void;
}

export interface FleetOrder extends WorkerOrder {
  readonly processes: number;
}

/** Longer than any round; a library that loses a task must not stop the bench. */
const STUCK_MS = 180_000;

const MAIN = fileURLToPath(new URL('./worker-main.ts', import.meta.url));

/** Answers when the processes have loaded their code. */
export async function openFleet(order: FleetOrder): Promise<Fleet> {
  const members = Array.from({ length: order.processes }, () => new Member(order));
  await Promise.all(members.map((member) => member.ready));
  return {
    start: async () => {
      await Promise.all(members.map((member) => member.start()));
    },
    handled: (tasks) => handled(members, tasks),
    finish: async () => joined(await Promise.all(members.map((member) => member.finish()))),
    kill: () => {
      for (const member of members) member.kill();
    },
  };
}

class Member {
  count = 0;
  onCount: () => void = () => {};
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #side: string;
  #hear: (message: FromWorker) => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(order: FleetOrder) {
    this.#side = order.side;
    this.#child = fork(MAIN, [JSON.stringify(order)]);
    this.#child.on('message', (message: FromWorker) => this.#heard(message));
    this.#child.on('exit', (code) => this.#fail(new Error(`${this.#side}: exit code ${code}`)));
    this.ready = this.#next('ready').then(() => undefined);
  }

  async start(): Promise<void> {
    const started = this.#next('started');
    this.#tell({ type: 'start' });
    await started;
  }

  async finish(): Promise<WorkerReport> {
    const last = this.#next('report');
    this.#tell({ type: 'finish' });
    const message = await last;
    if (message.type !== 'report') throw new Error(`${this.#side}: no report`);
    countChild(message.report.processUs);
    return message.report;
  }

  kill(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill('SIGKILL');
  }

  #heard(message: FromWorker): void {
    if (message.type === 'count') {
      this.count = message.count;
      this.onCount();
    } else {
      this.#hear(message);
    }
  }

  #next(type: FromWorker['type']): Promise<FromWorker> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#hear = (message) => {
        if (message.type === type) resolve(message);
      };
    });
  }

  #tell(message: ToWorker): void {
    this.#child.send(message);
  }
}

function handled(members: readonly Member[], tasks: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const sum = (): number => members.reduce((total, { count }) => total + count, 0);
    const stuck = setTimeout(() => {
      reject(new Error(`${sum()} of ${tasks} tasks after ${STUCK_MS} ms`));
    }, STUCK_MS);
    const check = (): void => {
      if (sum() < tasks) return;
      clearTimeout(stuck);
      resolve();
    };
    for (const member of members) member.onCount = check;
    check();
  });
}

function joined(reports: readonly WorkerReport[]): WorkerReport {
  const began = reports.filter(({ count }) => count > 0);
  const total = (pick: (report: WorkerReport) => number): number =>
    reports.reduce((sum, report) => sum + pick(report), 0);
  return {
    count: total(({ count }) => count),
    firstAt: Math.min(...began.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...began.map(({ lastAt }) => lastAt)),
    cpuUs: total((report) => report.cpuUs),
    processUs: total(({ processUs }) => processUs),
    latencies: reports.flatMap(({ latencies }) => latencies),
    starts: reports.flatMap(({ starts }) => starts),
    ends: reports.flatMap(({ ends }) => ends),
  };
}
