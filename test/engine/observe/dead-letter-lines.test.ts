/** What is logged of dead letters that no attempt has ended. */
import { beforeEach, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import type { LogFields, Logger } from '../../../src/base/logger.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Backend, BackendSettings, ChangeReply } from '../../../src/domain/port/backend.ts';
import { STEPS } from '../../../src/domain/step-bounds.ts';
import type { DeadLetters } from '../../../src/domain/task/dead-letter.ts';
import { redriven } from '../../../src/runs/redriven.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { everyBackend, type Harness, opened } from '../../support/backends.ts';

interface Line {
  readonly message: string;
  readonly fields: LogFields;
}

function keeper(lines: Line[]): Logger {
  const keep = (message: string, fields: LogFields = {}): void =>
    void lines.push({ message, fields });
  return { debug: () => undefined, info: keep, warn: keep, error: keep };
}

const good = task('good', async () => 1);
const unregistered = task('strange', async () => 1);

/** Leases a task as often as it may be lost, by a worker that says nothing any more. */
async function loseAll({ backend, clock }: Harness): Promise<void> {
  await backend.workers.register({
    id: 'gone',
    queues: ['default'],
    names: ['good'],
    concurrency: 1,
    host: 'test',
  });
  for (let loss = 1; loss <= LIMITS.maxLost; loss++) {
    const requestId = `gonerequest${loss}`;
    const queues = [{ queue: 'default', weight: 1, pass: 0 }];
    const asked = { requestId, worker: 'gone', limit: 1, leaseMs: 5_000, queues, wait: false };
    expect((await backend.tasks.lease(asked)).leases).toHaveLength(1);
    if (loss === LIMITS.maxLost) return;
    for (let second = 0; second < 15; second++) {
      await clock.advance('1s');
      await backend.tasks.tick();
    }
  }
}

everyBackend((open) => {
  const harness = opened(open);
  let lines: Line[];
  let loom: Fairloom;
  beforeEach(async () => {
    lines = [];
    loom = harness.loom([good], { log: keeper(lines) });
  });

  const failed = (): readonly unknown[] =>
    lines
      .map(({ fields }) => fields)
      .filter(({ event }) => String(event).startsWith('task.failed'));

  /** Lets time pass for two workers, which both look after what falls due. */
  async function pass(ms: number): Promise<void> {
    const workers = [loom.worker(), loom.worker()];
    for (const worker of workers) await worker.start();
    for (let left = ms; left > 0; left -= ms / 20) await harness.clock.advance(ms / 20);
  }

  // F134
  it('a task that was lost too often has one line, with what it is and why', async () => {
    const { id } = await loom.enqueue(good, undefined, { user: 'ann' });
    await loseAll(harness);
    await pass(60_000);
    const what = { task: id, name: 'good', user: 'ann', queue: 'default', attempt: 1 };
    const why = { error: 'lost', reason: `its lease ended ${LIMITS.maxLost} times` };
    expect(failed()).toEqual([{ event: 'task.failed', ...what, ...why }]);
  });

  // F134
  it('a task that was not started in time has one line, and of many there is a number', async () => {
    const count = STEPS.deadListed + 3;
    for (let at = 0; at < count; at++) {
      await loom.enqueue(good, undefined, { user: 'ann', expiresIn: '1s', queue: 'slow' });
    }
    await pass(60_000);
    const what = { name: 'good', user: 'ann', queue: 'slow', attempt: 0 };
    const why = { error: 'expired', reason: 'it was not started in time' };
    const told = failed();
    expect(told[0]).toMatchObject({ event: 'task.failed', ...what, ...why });
    expect(told.slice(STEPS.deadListed)).toEqual([{ event: 'task.failed-more', more: 3 }]);
  });

  // F134
  it('a task whose name no worker knows has one line', async () => {
    const other = harness.loom([unregistered]);
    const { id } = await other.enqueue(unregistered, undefined, { user: 'ann' });
    await pass(2_000);
    await harness.jump(LIMITS.unknownTaskMs);
    await harness.clock.advance('1m');
    const what = { task: id, name: 'strange', user: 'ann', queue: 'default', attempt: 0 };
    expect(failed()).toMatchObject([{ event: 'task.failed', ...what, error: 'unknown-task' }]);
  });

  // F134
  it('a client that catches up before it counts logs what it has ended', async () => {
    const { id } = await loom.enqueue(good, undefined, { user: 'ann', expiresIn: '1s' });
    await harness.clock.advance('2s');
    expect((await loom.tasks.counts()).failed).toBe(1);
    expect((await loom.tasks.counts()).failed).toBe(1);
    expect(failed()).toMatchObject([{ event: 'task.failed', task: id, error: 'expired' }]);
  });
});

const LETTERS: DeadLetters = {
  listed: [
    {
      ...{ id: 'o-7', name: 'good', queue: 'default', user: 'ann', attempt: 0 },
      cause: { type: 'expired' },
    },
  ],
  more: 0,
};

// F134
it('a dead letter that the place tells of by itself has one line', async () => {
  const lines: Line[] = [];
  const backend = memory();
  let tell: BackendSettings['deadLetters'];
  const told: Backend = {
    ...backend,
    open: (settings) => {
      tell = settings.deadLetters;
      return backend.open(settings);
    },
  };
  const loom = new Fairloom({ backend: told, log: keeper(lines) });
  await loom.stats();
  tell?.(LETTERS);
  await loom.close();
  const failed = lines.filter(({ fields }) => fields['event'] === 'task.failed');
  expect(failed).toMatchObject([{ fields: { task: 'o-7', error: 'expired' } }]);
});

// F134
it('a step of maintenance for a task that is put back logs what it has ended', async () => {
  const lines: Line[] = [];
  const { tasks } = memory();
  const replies: ChangeReply[] = [{ kind: 'busy' }, { kind: 'ok' }];
  const store = {
    tasks: {
      ...tasks,
      redrive: async () => replies.shift() ?? { kind: 'not-found' as const },
      tick: async () => ({ more: false, schedulesDue: false, now: 0, deadLetters: LETTERS }),
    },
    log: keeper(lines),
  };
  expect(await redriven(store, 'id', undefined, undefined)).toEqual({ kind: 'ok' });
  expect(lines).toMatchObject([{ fields: { event: 'task.failed', task: 'o-7' } }]);
});
