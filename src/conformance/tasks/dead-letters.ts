/** Dead letters that no worker has decided on: the answer of the step that makes them tells of them, once. */

import { LIMITS } from '../../domain/limits.ts';
import { STEPS } from '../../domain/step-bounds.ts';
import type { DeadLetter, DeadLetters } from '../../domain/task/dead-letter.ts';
import type { Cases } from '../cases.ts';
import { type Kit, LEASE_MS } from '../kit.ts';

const MINUTE_MS = 60_000;

/** Steps after which a sweep that an outage has put off has come. */
const MOST_STEPS = 10;

const TASK = { id: 'late', user: 'bob' } as const;

/** Brings a task to where the next step makes a dead letter of it; what is listed of it. */
const MADE: Readonly<Record<string, (kit: Kit) => Promise<Pick<DeadLetter, 'attempt' | 'cause'>>>> =
  {
    'one that was lost too often': async (kit) => {
      await kit.add(TASK);
      for (let loss = 1; loss < LIMITS.maxLost; loss++) {
        await kit.leaseOne();
        await kit.advance(LEASE_MS + 1);
        await kit.advance(LIMITS.lostBackoffMs + 1_000);
      }
      await kit.leaseOne();
      await kit.shift(LEASE_MS + 1);
      return { attempt: 1, cause: { type: 'lost', leases: LIMITS.maxLost } };
    },
    'one that was not started in time': async (kit) => {
      await kit.add({ ...TASK, expiresInMs: MINUTE_MS });
      await kit.shift(MINUTE_MS + 1);
      return { attempt: 0, cause: { type: 'expired' } };
    },
    'one whose name no worker knows': async (kit) => {
      await kit.add({ ...TASK, name: 'strange' });
      for (let more = true; more; ) more = (await kit.leaseReply()).more;
      await kit.shift(LIMITS.unknownTaskMs + 1);
      return { attempt: 0, cause: { type: 'unknown-task' } };
    },
  };

interface Answer {
  readonly deadLetters?: DeadLetters;
}

/** The steps that may make some. */
const STEPS_OF_WORKERS: Readonly<Record<string, (kit: Kit) => Promise<Answer | undefined>>> = {
  'a lease': (kit) => kit.leaseReply(),
  'a settle with a lease': async (kit) => {
    await kit.worker('w');
    const lease = kit.request();
    return (await kit.backend.tasks.settle({ worker: 'w', settlements: [], lease })).lease;
  },
  'an extension': (kit) => {
    return kit.backend.tasks.extend({ worker: 'w', leaseMs: LEASE_MS, leases: [] });
  },
  'a tick': (kit) => kit.backend.tasks.tick(),
};

/** What steps have listed, in all. */
async function lettersOf(
  kit: Kit,
  step: (kit: Kit) => Promise<Answer | undefined>,
): Promise<readonly DeadLetters[]> {
  const listed: DeadLetters[] = [];
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const reply = await step(kit);
    if (reply?.deadLetters !== undefined) listed.push(reply.deadLetters);
    await kit.shift(1_000);
  }
  return listed;
}

const EACH: Cases = Object.fromEntries(
  Object.entries(MADE).flatMap(([what, make]) =>
    Object.entries(STEPS_OF_WORKERS).map(([by, step]) => [
      // F134
      `${by} tells of ${what}, once`,
      async (kit: Kit, expect: Kit['expect']) => {
        const { attempt, cause } = await make(kit);
        const name = cause.type === 'unknown-task' ? 'strange' : 'work';
        const letter = { id: 'late', name, queue: 'default', user: 'bob', attempt, cause };
        expect(await lettersOf(kit, step)).toEqual([{ listed: [letter], more: 0 }]);
        expect(await kit.state('late')).toBe('failed');
      },
    ]),
  ),
);

/** What is listed of them, and what is not. */
export const madeDeadLetters: Cases = {
  ...EACH,

  // F134
  'of more than a step tells of there is their number': async (kit, expect) => {
    await kit.addMany(STEPS.deadListed + 5, { expiresInMs: MINUTE_MS });
    await kit.shift(MINUTE_MS + 1);
    const { deadLetters } = await kit.backend.tasks.tick();
    expect(deadLetters?.listed.length).toBe(STEPS.deadListed);
    expect(deadLetters?.more).toBe(5);
  },

  // F134
  'one that a worker has decided on is not listed, nor a task that follows it': async (
    kit,
    expect,
  ) => {
    const failOn = {
      onFailure: 'fail',
      onCancel: 'cancel',
      onMissing: 'refuse',
      allowCrossUser: false,
    } as const;
    await kit.add({ id: 'a' });
    await kit.add({ id: 'b', dependsOn: ['a'], edges: failOn });
    const { id, token } = await kit.leaseOne();
    const error = '{"name":"Error","message":"no"}';
    const cause = { type: 'fatal', failure: 'error' } as const;
    const settlements = [{ id, token, decision: { type: 'dead-letter', cause, error } }] as const;
    const reply = await kit.backend.tasks.settle({
      worker: 'w',
      settlements,
      lease: kit.request(),
    });
    expect(await kit.state('b')).toBe('failed');
    expect([
      reply.lease?.deadLetters,
      ...(await lettersOf(kit, (one) => one.backend.tasks.tick())),
    ]).toEqual([undefined]);
  },
};
