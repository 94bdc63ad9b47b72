import type { Unsubscribe } from '../events/emitter.ts';
import type { StopReport } from './shutdown.ts';
import type { StopOptions } from './worker-options.ts';

/** What works until it is stopped: a worker, or something that is started and stopped like one. */
export interface Service {
  start(): Promise<void>;
  stop(options?: StopOptions): Promise<StopReport>;
  /** Absent for what never ends by itself. */
  on?(name: 'worker.stopped', listener: () => void): Unsubscribe;
}

/** Where signals come from: the process, or a stand-in for it. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  removeListener(signal: NodeJS.Signals, listener: () => void): unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Runs services until the process is told to end: the first signal lets running handlers end, a
 * second one ends them now. Fulfilled too when one of them ends by itself, or was stopped, after the
 * others have been stopped; rejects when one cannot start.
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
