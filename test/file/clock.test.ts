/** The clock is another one when the data is opened again: it was set, or the folder has moved to another machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import { describeBackend, type Harness } from '../../src/conformance.ts';
import type { Backend, Decision, Leased } from '../../src/domain/port/backend.ts';
import { RETENTION } from '../model/harness.ts';
import { dyingBackend } from '../support/file/disk-backend.ts';
import { FaultyDisk } from '../support/file/faulty-disk.ts';
import { newTask } from '../support/file/some-state.ts';
import { HandClock } from '../support/hand-clock.ts';
import { rounds } from '../support/rounds.ts';
import { AT_SCALE, someCases } from '../support/some-cases.ts';
import { Course, type CourseParts } from './faults/course.ts';
import { historyOf } from './faults/history.ts';
import { Oracle } from './faults/oracle.ts';
import { Tally } from './faults/tally.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Long enough for an hour and all leases. Ends of leases are not looked at in the first seconds after a long pause. */
const ROUND_MS = [54_000, 6_000];
const ROUNDS = 140;

/** Of the first history. */
const SEED = 31;

/** How far the clock is from where it was. */
const JUMPS = {
  '1 h back': -HOUR_MS,
  '1 ms back': -1,
  '1 d on': DAY_MS,
  '10 y on': 3_650 * DAY_MS,
};

// Leases, retries, delays, schedules, retention, rates, debounce and waits: all that depends on time.
const timed = someCases(
  { describe, it, expect },
  { every: rounds(1, 80), always: /clock|hour ahead|step back/, never: AT_SCALE },
);
describeBackend('file, opened anew whenever time has passed', timed, async (): Promise<Harness> => {
  const clock = new HandClock();
  const backend = dyingBackend({ clock, every: Infinity });
  return {
    backend,
    advance: async (ms) => {
      clock.move(ms);
      backend.die();
    },
    now: () => clock.now(),
    close: () => backend.close(),
  };
});

describe.each(Object.entries(JUMPS))('a clock that is %s when the data is opened', (_, ms) => {
  it.each(['close', 'die'] as const)(
    'does what it does in memory, and nothing is lost (the owner before: %s)',
    async (end) => {
      for (let seed = SEED; seed < SEED + rounds(12, 1); seed++) {
        const history = await historyOf(seed, 90);
        const at = Math.floor(history.length / 2);
        const shifted = history.map((line, nth) => (nth < at ? line : later(line, ms)));
        const oracle = new Oracle();
        const [done, queue] = [shifted.slice(0, at), shifted.slice(at)];
        const first = new Course(partsOf(seed, { oracle, queue: done }));
        await first.run(end);
        const files =
          end === 'close' ? first.disk.afterCrash() : first.disk.afterPowerCut(4 * seed);
        const second = new Course(
          partsOf(seed, { oracle, disk: new FaultyDisk(files), done, queue }),
        );
        await second.run();
        // Every answer was that of the engine in memory.
        expect(await second.found(second.disk.afterCrash(), shifted.length)).toBe(shifted.length);
      }
    },
  );

  it('hands out nothing twice while its lease holds, and everything comes to an end', async () => {
    const clock = new HandClock();
    const backend = dyingBackend({ clock, every: Infinity });
    await backend.open({ retention: RETENTION });
    await backend.tasks.enqueue(
      [
        newTask({ id: 'first' }),
        newTask({ id: 'tried' }),
        newTask({ id: 'late', delayMs: 30_000 }),
      ],
      { atomic: true },
    );
    const [first, tried] = await leases(backend, 'a', 2);
    await settle(backend, 'a', tried, RETRY);
    clock.move(ms);
    backend.die();
    // A small step back is not followed.
    const now = clock.now() + (ms === -1 ? 1 : 0);
    const [record] = await backend.inspect.get(['first']);
    const isInForce = (record?.leaseUntil ?? 0) > now;
    expect(isInForce).toBe(ms < 0);
    const given = await leases(backend, 'b', 5);
    // Leases that ended while the folder had no owner are in force for a little while more.
    expect(given.map(({ id }) => id)).not.toContain('first');
    const ended = await workOff(backend, 'b', given, clock);
    expect(ended.toSorted()).toEqual(['first', 'late', 'tried']);
    // Who had it first comes too late.
    expect(await settle(backend, 'a', first, FINISH)).toMatchObject({ kind: 'leaseLost' });
    await backend.close();
  });

  it('lets who holds a lease end its task', async () => {
    const clock = new HandClock();
    const backend = dyingBackend({ clock, every: Infinity });
    await backend.open({ retention: RETENTION });
    await backend.tasks.enqueue([newTask({ id: 'first' })], { atomic: true });
    const [first] = await leases(backend, 'a', 1);
    clock.move(ms);
    backend.die();
    expect(await settle(backend, 'a', first, FINISH)).toMatchObject({ state: 'finished' });
    await backend.close();
  });
});

it('the clock of the owner counts, not that of the guest, and then that of the next owner', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clock-'));
  const [clock, behind] = [new HandClock(), new HandClock()];
  behind.move(-HOUR_MS);
  const [owner, guest] = [file(folder, { clock }), file(folder, { clock: behind })];
  try {
    await owner.open({ retention: RETENTION });
    await guest.open({ retention: RETENTION });
    await guest.tasks.enqueue([newTask({ id: 'first' }), newTask({ id: 'late', delayMs: 1_000 })], {
      atomic: true,
    });
    expect((await guest.inspect.get(['late']))[0]?.dueAt).toBe(clock.now() + 1_000);
    expect((await leases(guest, 'a', 5)).map(({ id }) => id)).toEqual(['first']);
    await owner.close();
    expect(await leases(guest, 'b', 5)).toEqual([]);
    expect((await guest.tasks.tick()).now).toBe(behind.now());
    behind.move(HOUR_MS + 1_000);
    expect((await leases(guest, 'b', 5)).map(({ id }) => id)).toEqual(['late']);
  } finally {
    await guest.close();
    await owner.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

const FINISH: Decision = { type: 'finish', result: '1' };

const RETRY: Decision = {
  type: 'retry',
  delayMs: 10_000,
  cause: { type: 'attempts', failure: 'error', made: 1, of: 3 },
  error: '{"name":"Error","message":"no"}',
};

let requests = 0;

async function leases(backend: Backend, worker: string, limit: number): Promise<readonly Leased[]> {
  const spec = { id: worker, host: 'here', queues: ['default'], names: ['work'], concurrency: 9 };
  await backend.workers.register(spec, { starts: false });
  const reply = await backend.tasks.lease({
    requestId: `request${String(requests++).padStart(5, '0')}`,
    worker,
    limit,
    leaseMs: 60_000,
    queues: [{ queue: 'default', weight: 1, pass: 0 }],
    wait: false,
  });
  return reply.leases;
}

async function settle(
  backend: Backend,
  worker: string,
  leased: Leased | undefined,
  decision: Decision,
): Promise<unknown> {
  const { id = '', token = '' } = leased ?? {};
  const { answers } = await backend.tasks.settle({
    worker,
    settlements: [{ id, token, decision }],
  });
  return answers[0];
}

/** Time passes, and a worker finishes what it is given; ids of these. */
async function workOff(
  backend: ReturnType<typeof dyingBackend>,
  worker: string,
  given: readonly Leased[],
  clock: HandClock,
): Promise<readonly string[]> {
  const ended: string[] = [];
  let now = given;
  for (let round = 0; round < ROUNDS; round++) {
    for (const leased of now) {
      ended.push(leased.id);
      await settle(backend, worker, leased, FINISH);
    }
    clock.move(ROUND_MS[round % ROUND_MS.length] ?? 0);
    if (round % 10 === 0) backend.die();
    now = await leases(backend, worker, 5);
  }
  return ended;
}

function partsOf(
  seed: number,
  parts: Pick<CourseParts, 'oracle' | 'queue'> & Partial<CourseParts>,
): CourseParts {
  const setting = { sync: 'always', segmentBytes: 4_096, leastLog: 6_000 } as const;
  return { disk: new FaultyDisk(), tally: new Tally(), setting, seed, done: [], ...parts };
}

function later(line: string, ms: number): string {
  const [moment, ...rest] = JSON.parse(line);
  return JSON.stringify([moment + ms, ...rest]);
}
