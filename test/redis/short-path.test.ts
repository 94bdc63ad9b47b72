/**
 * The short path of enqueue, lease and settle restates the long one for plain tasks. Here the same
 * history runs on both: answers and all that is stored must be the same after every step.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { adminOf } from './faults-kit.ts';
import { History, newTask, plain, START, step } from './short-path-history.ts';
import { Twins } from './twins.ts';

/** Hears what is published; the function says how often each message came since it was asked last. */
async function listen(...channels: readonly string[]): Promise<() => Promise<readonly number[]>> {
  const listener = adminOf();
  let heard: string[] = [];
  listener.on('message', (channel: string, message: string) => heard.push(`${channel} ${message}`));
  await listener.subscribe(...channels);
  return async () => {
    await listener.ping();
    const counts = new Map<string, number>();
    for (const message of heard) counts.set(message, (counts.get(message) ?? 0) + 1);
    heard = [];
    return [...counts.values()];
  };
}

it('does what the long path does, byte for byte', { timeout: 240_000 }, async () => {
  const admin = adminOf();
  const told = await listen('one', 'two');
  const all = { enqueue: 0, lease: 0, settle: 0 };
  const long = { enqueue: 0, lease: 0, settle: 0 };
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      histories += 1;
      const name = `twins-${process.pid}-${histories}`;
      const twins = await Twins.open(admin, name, START);
      const history = new History(twins);
      try {
        await history.run(steps);
        // Each end is told by both.
        expect((await told()).filter((times) => times !== 2)).toEqual([]);
        const slow = await twins.longSteps(name);
        for (const verb of ['enqueue', 'lease', 'settle'] as const) {
          all[verb] += history.steps[verb];
          long[verb] += slow[verb];
        }
      } finally {
        await twins.close();
        await admin.del(`${name}-long-steps`);
      }
    }),
    { numRuns: 20 },
  );
  // The histories are no proof of anything unless they take the short path often.
  expect(all.enqueue - long.enqueue).toBeGreaterThan(50);
  expect(all.lease - long.lease).toBeGreaterThan(50);
  expect(all.settle - long.settle).toBeGreaterThan(50);
});

it('keeps the attempts of a task whose lease was lost before', async () => {
  const twins = await Twins.open(adminOf(), `twins-${process.pid}-lost`, START);
  try {
    const lease = (limit: number) => ({ do: 'lease', limit, wait: false }) as const;
    const settle = (count: number) => ({ do: 'settle', count, limit: 0, odd: 'no' }) as const;
    // No pause is long enough to count as an outage, which would put the sweep off.
    const wait = [{ do: 'wait', ms: 6_000 } as const, settle(0)];
    // The leases that were lost are settled in vain, and then those that came after them.
    const each = Array.from({ length: 10 }, () => settle(1));
    const steps = [lease(2), ...wait, ...wait, ...wait, lease(10), settle(2), ...each];
    await new History(twins).run(steps);
    const attempts = await twins.both((backend) => backend.inspect.attempts('t0'));
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'succeeded']);
  } finally {
    await twins.close();
  }
});

it('takes members of a run, and the arrival of all but the last', async () => {
  const name = `twins-${process.pid}-members`;
  const twins = await Twins.open(adminOf(), name, START);
  try {
    await new History(twins).run([]);
    const lease = async (limit: number) => {
      const request = {
        requestId: `of ${limit} tasks`,
        worker: 'w',
        limit,
        leaseMs: 15_000,
        queues: [{ queue: 'default', weight: 1, pass: 0 }],
        wait: false,
      };
      return (await twins.both((backend) => backend.tasks.lease(request))).leases;
    };
    const run = newTask('run', { ...plain(0), level: 6 });
    await twins.both((backend) => backend.tasks.enqueue([run], { atomic: true }));
    const before = await lease(100);
    const token = before.find(({ id }) => id === 'run')?.token ?? '';
    const terms = { atomic: false, fence: { id: 'run', token } } as const;
    const members = ['a', 'b', 'c', 'd'].map((id) => ({ ...newTask(id, plain(0)), owner: 'run' }));
    const dependsOn = members.map(({ id }) => id);
    const join = { ...newTask('join', plain(0)), dependsOn, join: true } as const;
    let slow = await twins.longSteps(name);
    const isShort = async (verb: keyof typeof slow): Promise<boolean> => {
      const was = slow[verb];
      slow = await twins.longSteps(name);
      return slow[verb] === was;
    };
    await twins.both((backend) => backend.tasks.enqueue(members, terms));
    expect(await isShort('enqueue')).toBe(true);
    await twins.both((backend) => backend.tasks.enqueue([join], terms));
    expect(await isShort('enqueue')).toBe(false);
    const leases = await lease(10);
    expect(leases).toHaveLength(4);
    expect(await isShort('lease')).toBe(true);
    const settlements = leases.map(({ id, token }) => {
      return { id, token, decision: { type: 'finish', result: '1' } as const };
    });
    const settle = (from: number, till: number) =>
      twins.both((backend) =>
        backend.tasks.settle({ worker: 'w', settlements: settlements.slice(from, till) }),
      );
    await settle(0, 3);
    expect(await isShort('settle')).toBe(true);
    await twins.mustBeSame();
    await settle(3, 4);
    expect(await isShort('settle')).toBe(false);
    await twins.mustBeSame();
    const [record] = await twins.both((backend) => backend.inspect.get(['join']));
    expect(record?.state).toBe('finished');
  } finally {
    await twins.close();
    await adminOf().del(`${name}-long-steps`);
  }
});

it('takes the lease of a worker that was woken, and held the alarm', async () => {
  const name = `twins-${process.pid}-woken`;
  const twins = await Twins.open(adminOf(), name, START);
  try {
    await new History(twins).run([]);
    let calls = 0;
    const lease = async () => {
      calls += 1;
      const request = {
        requestId: `call ${calls}`,
        worker: 'w',
        limit: 20,
        leaseMs: 15_000,
        queues: [{ queue: 'default', weight: 1, pass: 0 }],
        wait: true,
      };
      return (await twins.both((backend) => backend.tasks.lease(request))).leases;
    };
    expect(await lease()).not.toEqual([]);
    // Now it stands in line, and looks after what falls due.
    expect(await lease()).toEqual([]);
    const added = newTask('added', plain(0));
    await twins.both((backend) => backend.tasks.enqueue([added], { atomic: true }));
    const before = await twins.longSteps(name);
    expect((await lease()).map(({ id }) => id)).toEqual(['added']);
    expect((await twins.longSteps(name)).lease).toBe(before.lease);
    await twins.mustBeSame();
    // Awake, it stands in line anew when there is nothing more.
    expect(await lease()).toEqual([]);
    await twins.mustBeSame();
  } finally {
    await twins.close();
    await adminOf().del(`${name}-long-steps`);
  }
});
