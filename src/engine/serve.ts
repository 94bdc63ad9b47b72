import type { StopReport, Worker } from './worker.ts';

/** Where signals come from: the process, or a stand-in for it. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  removeListener(signal: NodeJS.Signals, listener: () => void): unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Runs a worker until the process is told to end: the first signal lets running handlers end, a
 * second one ends them now. Fulfilled too when the worker ends by itself; rejects when it cannot
 * start.
 */
export async function serveUntilSignal(worker: Worker, source: SignalSource): Promise<StopReport> {
  let signals = 0;
  let report: Promise<StopReport> | undefined;
  let tell: (() => void) | undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const onSignal = (): void => {
    signals++;
    report = signals === 1 ? worker.stop() : worker.stop({ grace: 0 });
    tell?.();
  };
  const off = worker.on('worker.stopped', () => tell?.());
  for (const signal of SIGNALS) source.on(signal, onSignal);
  try {
    await worker.start();
    await told;
    return await (report ?? worker.stop());
  } finally {
    off();
    for (const signal of SIGNALS) source.removeListener(signal, onSignal);
  }
}
