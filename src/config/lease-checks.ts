/** Compares leases with timeouts: a dead worker must be noticed before the timeout of its attempt. */
import { durationMs } from '../base/time.ts';
import type { QueueOptions } from '../client/facades/settings-options.ts';
import type { Config, WorkerConfig } from './config-types.ts';
import { shownText } from './problems.ts';
import type { Findings } from './resolve.ts';

type Timeout = QueueOptions['timeout'];

/** A worker of the configuration, and its path. */
interface PlacedWorker {
  readonly path: string;
  readonly worker: WorkerConfig;
}

/** Adds problems of leases and timeouts. `paths` are those of the workers. */
export function checkLeases(config: Config, paths: readonly string[], findings: Findings): void {
  const workers = config.workers.map((worker, at) => ({ path: paths[at] ?? 'worker', worker }));
  for (const worker of workers) checkWorker(worker, config, findings);
  checkQueues(config, workers, findings);
}

/** Checks the values that apply without settings of a queue. */
function checkWorker({ path, worker }: PlacedWorker, config: Config, findings: Findings): void {
  const { lease } = worker;
  const { timeout } = config.defaults;
  if (!isTooLong(lease, timeout)) return;
  const own = findings.origins.get(`${path}.lease`);
  // Reported only if a source sets it: a default lease is far shorter.
  if (own !== undefined && own.from !== 'default') {
    add(findings, `${path}.lease`, { less: 'defaults.timeout', than: timeout, got: lease });
  } else {
    add(findings, 'defaults.timeout', { more: `${path}.lease`, than: lease, got: timeout });
  }
}

/** Checks queues with one of the two; for both, the settings' own check suffices. */
function checkQueues(
  { queues, defaults }: Config,
  workers: readonly PlacedWorker[],
  findings: Findings,
): void {
  for (const [name, { lease, timeout }] of Object.entries(queues)) {
    const path = `queues.${name}`;
    if (!isSaid(timeout) && isTooLong(lease, defaults.timeout)) {
      const than = defaults.timeout;
      add(findings, `${path}.lease`, { less: 'defaults.timeout', than, got: lease });
    }
    if (isSaid(lease)) continue;
    const found = workers.find(
      ({ worker }) => serves(worker, name) && isTooLong(worker.lease, timeout),
    );
    if (found === undefined) continue;
    const than = found.worker.lease;
    add(findings, `${path}.timeout`, { more: `${found.path}.lease`, than, got: timeout });
  }
}

function serves({ queues = ['default'] }: WorkerConfig, queue: string): boolean {
  return Array.isArray(queues) ? queues.includes(queue) : Object.hasOwn(queues, queue);
}

function isSaid(value: Timeout): boolean {
  return value !== undefined && value !== 'default';
}

function isTooLong(lease: QueueOptions['lease'], timeout: Timeout): boolean {
  const leaseMs = lengthOf(lease);
  const timeoutMs = lengthOf(timeout);
  return leaseMs !== undefined && timeoutMs !== undefined && leaseMs >= timeoutMs;
}

function lengthOf(value: Timeout): number | undefined {
  if (value === undefined || value === 'none' || value === 'default') return undefined;
  return durationMs(value);
}

interface Complaint {
  /** The other option of the comparison, and its value. */
  readonly less?: string;
  readonly more?: string;
  readonly than: unknown;
  readonly got: unknown;
}

function add({ problems, origins }: Findings, path: string, complaint: Complaint): void {
  const { less, more, than, got } = complaint;
  const wanted = less === undefined ? `more than ${more}` : `less than ${less}`;
  problems.add({
    path,
    origin: origins.get(path) ?? { from: 'default' },
    expected: `${wanted}, which is ${shownText(than)}`,
    got: shownText(got),
  });
}
