/** Measurements that need a process of their own, with its own heap and warm code. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DurableWay } from '../durable/throughput.ts';
import type { Figures } from './bench.ts';
import { countChild } from './quiet.ts';

/** Names a module of `bench/embedded/` or `bench/durable/`, with the argument of its `measure`. */
export interface IsolatedOrder {
  readonly module:
    | 'throughput'
    | 'heap'
    | 'lease-cost'
    | 'driven-nodes'
    | 'stream-writer'
    | 'durable-throughput'
    | 'durable-fill'
    | 'durable-open'
    | 'durable-stall';
  /** Or the address of the server. */
  readonly side: string;
  readonly size: number;
  /** The store that outlives the process: a folder, or the address of a server. */
  readonly place?: string;
  /** How tasks are stored and run. */
  readonly way?: DurableWay;
}

/** The answer of the process. */
export interface IsolatedReply {
  readonly figures: Figures;
  /** Time of the whole process, in µs. */
  readonly processUs: number;
}

const MAIN = fileURLToPath(new URL('./isolated-main.ts', import.meta.url));

export function isolated(order: IsolatedOrder): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const child = fork(MAIN, [JSON.stringify(order)], {
      execArgv: [...process.execArgv, '--expose-gc'],
    });
    child.once('message', ({ figures, processUs }: IsolatedReply) => {
      countChild(processUs);
      resolve(figures);
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      reject(new Error(`${order.module} of ${order.side} ended with exit code ${code}`));
    });
  });
}
