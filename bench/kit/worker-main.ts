/** A process that works off one side's queue; `fleet.ts` starts it and sends its commands. */
import { openSide } from '../sides/open-side.ts';
import { cpuUs, now, sleep } from './now.ts';
import type { Payload } from './payload.ts';
import type { Closable } from './side.ts';
import type { FromWorker, ToWorker, WorkerOrder } from './worker-messages.ts';

/** Reports progress after this many tasks, and at this interval when there are fewer, in ms. */
const COUNT_EVERY = 100;
const COUNT_MS = 25;

const order: WorkerOrder = JSON.parse(process.argv[2] ?? '{}');
const side = await openSide(order.side);
const latencies: number[] = [];
const starts: (readonly [string, number])[] = [];
const ends: string[] = [];
let count = 0;
let told = 0;
let firstAt = 0;
let lastAt = 0;
let cpu = process.cpuUsage();
let worker: Closable | undefined;

process.on('message', (message: ToWorker) => {
  void (message.type === 'start' ? start() : finish());
});
// Nothing outlives a bench that died.
process.on('disconnect', () => process.exit(1));
tell({ type: 'ready' });

async function start(): Promise<void> {
  cpu = process.cpuUsage();
  const { url, slots, delayed, handlerMs } = order;
  worker = await side.worker(url, { slots, delayed, handle: handlerMs > 0 ? slowly : quickly });
  setInterval(tellCount, COUNT_MS);
  tell({ type: 'started' });
}

async function quickly(payload: Payload): Promise<void> {
  began(payload);
  ended(payload);
}

async function slowly(payload: Payload): Promise<void> {
  began(payload);
  await sleep(order.handlerMs);
  ended(payload);
}

function began({ t, u }: Payload): void {
  const at = now();
  if (firstAt === 0) firstAt = at;
  if (t !== undefined) latencies.push(at - t);
  if (order.keepStarts) starts.push([u ?? '', at]);
}

function ended({ u }: Payload): void {
  count++;
  lastAt = now();
  if (order.keepStarts) ends.push(u ?? '');
  if (count % COUNT_EVERY === 0) tellCount();
}

function tellCount(): void {
  if (count === told) return;
  told = count;
  tell({ type: 'count', count });
}

async function finish(): Promise<void> {
  await worker?.close();
  const { user, system } = process.cpuUsage();
  const report = { count, firstAt, lastAt, latencies, starts, ends };
  const message: FromWorker = {
    type: 'report',
    report: { ...report, cpuUs: cpuUs(cpu), processUs: user + system },
  };
  process.send?.(message, () => process.exit(0));
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
