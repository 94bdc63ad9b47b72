import type { Unsubscribe } from '../events/emitter.ts';
import type { StopReport } from './shutdown.ts';
import type { StopOptions } from './worker-options.ts';

/** A worker, or another service that runs until it is stopped. */
export interface Service {
  start(): Promise<void>;
  stop(options?: StopOptions): Promise<StopReport>;
  /** Absent for a service that never ends by itself. */
  on?(name: 'worker.stopped', listener: () => void): Unsubscribe;
}

/** Source of signals: the process, or a substitute. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  removeListener(signal: NodeJS.Signals, listener: () => void): unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Runs services until the process gets a signal: after the first, running handlers may end; a second
 * one ends them at once. Also resolves when one service ends or is stopped, after the others were
 * stopped; rejects when one cannot start.
 */
export async function serveUntilSignal(
  services: readonly Service[],
  source: SignalSource,
): Promise<StopReport> {
  let signals = 0;
  let signal: (() => void) | undefined;
  const signaled = new Promise<void>((resolve) => {
    signal = resolve;
  });
  const onSignal = (): void => {
    signals++;
    for (const service of services) void service.stop(signals === 1 ? {} : { grace: 0 });
    signal?.();
  };
  const offs = services.map((service) => service.on?.('worker.stopped', () => signal?.()));
  for (const signal of SIGNALS) source.on(signal, onSignal);
  try {
    await Promise.all(services.map((service) => service.start()));
    await signaled;
    const reports = await Promise.all(services.map((service) => service.stop()));
    return { unfinished: reports.flatMap(({ unfinished }) => unfinished) };
  } finally {
    for (const off of offs) off?.();
    for (const signal of SIGNALS) source.removeListener(signal, onSignal);
  }
}
