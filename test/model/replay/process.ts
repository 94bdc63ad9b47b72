/** Clients of a process of their own, which may be killed at any moment: see `fleet.ts`. */
import { History } from './history.ts';
import { type PlayOptions, play } from './play.ts';

/** What such a process is told to do. */
export type Orders = Omit<PlayOptions, 'history' | 'alone'>;

/** What it says: an answer that a client was given, or that it has done; then maybe what went wrong. */
export type Report =
  | { readonly id: string; readonly answer: unknown }
  | { readonly done: true; readonly error?: string };

function report(message: Report): void {
  process.send?.(message);
}

process.once('message', async (orders: Orders) => {
  // It replays for itself, to know what it could call.
  const own = await History.open(orders.scene);
  try {
    await play({
      ...orders,
      history: {
        replayer: own.replayer,
        ids: own.ids,
        read: () => own.read(),
        answered: (id, answer) => report({ id, answer }),
      },
      alone: false,
    });
    report({ done: true });
  } catch (error) {
    report({ done: true, error: error instanceof Error ? (error.stack ?? '') : String(error) });
  } finally {
    own.leave();
    process.disconnect();
  }
});
