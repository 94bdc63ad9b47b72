import type { StopReport, Worker } from './worker.ts';

/** Where signals come from: the process, or a stand-in for it. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  removeListener(signal: NodeJS.Signals, listener: () => void): unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Runs workers until the process is told to end: the first signal lets running handlers end, a
 * second one ends them now. Fulfilled too when one of them ends by itself, after the others have
 * been stopped; rejects when one cannot start.
 */
export async function serveUntilSignal(
  workers: readonly Worker[],
  source: SignalSource,
): Promise<StopReport> {
  let signals = 0;
  let tell: (() => void) | undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const onSignal = (): void => {
    signals++;
    for (const worker of workers) void worker.stop(signals === 1 ? {} : { grace: 0 });
    tell?.();
  };
  const offs = workers.map((worker) => worker.on('worker.stopped', () => tell?.()));
  for (const signal of SIGNALS) source.on(signal, onSignal);
  try {
    await Promise.all(workers.map((worker) => worker.start()));
    await told;
    const reports = await Promise.all(workers.map((worker) => worker.stop()));
    return { unfinished: reports.flatMap(({ unfinished }) => unfinished) };
  } finally {
    for (const off of offs) off();
    for (const signal of SIGNALS) source.removeListener(signal, onSignal);
  }
}
