/** One history of several processes: some are killed, connections break, the server forgets its scripts. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RedisPlace } from '../../support/redis/redis-server.ts';
import { History } from './history.ts';
import { chanceOf } from './play.ts';
import type { Orders, Report } from './process.ts';
import type { Tally } from './replayer.ts';

const PROGRAM = fileURLToPath(new URL('./process.ts', import.meta.url));

/** Processes that run at once. */
const PROCESSES = 3;

/** Between two looks at what happened, each of which may bring a fault, in ms. */
const LOOK_MS = 25;

/** Of so many looks one kills a process … */
const KILL_EVERY = 40;
/** … and one breaks all connections, or has the server forget all scripts. */
const FAULT_EVERY = 30;

interface Running {
  readonly child: ChildProcess;
  calls: number;
  isOver: boolean;
  error?: string | undefined;
}

/** Where each process calls so often. */
export async function playByMany(
  place: RedisPlace,
  seed: number,
  calls: number,
  tally: Tally,
): Promise<void> {
  await History.judge(place, seed, tally, async (history) => {
    const chance = chanceOf(seed);
    const all: Running[] = [];
    const start = (most: number): void => {
      const name = [...String(all.length)].map((digit) => LETTERS[Number(digit)]).join('');
      const orders = { scene: history.scene, seed: seed * 100 + all.length, name, calls: most };
      all.push(started(history, orders));
    };
    try {
      for (let n = 0; n < PROCESSES; n += 1) start(calls);
      while (all.some(({ isOver }) => !isOver)) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        await history.read();
        if (chance(FAULT_EVERY) === 0) await (chance(2) === 0 ? history.cutAll() : history.flush());
        const victim = all[chance(all.length)];
        if (victim === undefined || victim.isOver || chance(KILL_EVERY) > 0) continue;
        victim.child.kill('SIGKILL');
        tally.kills += victim.calls > 0 ? 1 : 0;
        start(Math.max(1, calls - victim.calls));
      }
      const error = all.find((one) => one.error !== undefined)?.error;
      await history.end();
      if (error !== undefined) throw new Error(error);
    } finally {
      for (const { child } of all) child.kill('SIGKILL');
      await Promise.all(all.map(({ child }) => ended(child)));
    }
  });
}

/** Names of processes are of letters, those of their calls end with digits. */
const LETTERS = 'abcdefghij';

function started(history: History, orders: Orders): Running {
  const child = fork(PROGRAM, { execArgv: ['--import', 'tsx'], serialization: 'advanced' });
  const running: Running = { child, calls: 0, isOver: false };
  child.on('message', (message: Report) => {
    if ('done' in message) {
      running.error = message.error;
      return;
    }
    running.calls += 1;
    history.answered(message.id, message.answer);
  });
  child.once('exit', () => {
    running.isOver = true;
  });
  child.send(orders);
  return running;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
