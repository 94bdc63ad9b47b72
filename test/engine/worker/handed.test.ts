/** What a worker does with a task that comes to it while it waits: slots, pauses, those that come twice. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Backend, Leased } from '../../../src/domain/port/backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { type Harness, openMemory } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';

interface Handing {
  readonly backend: Backend;
  /** What was asked of the store, in order. */
  readonly calls: string[];
  /** Hands over what was leased, as the answer to the wait that is under way. */
  give(lease: Leased): void;
}

/** A backend whose worker gets what the test gives it: the embedded one has nothing to spare by that. */
function handing(inner: Backend): Handing {
  const calls: string[] = [];
  let answer: ((lease: Leased) => void) | undefined;
  const backend: Backend = {
    ...inner,
    tasks: {
      ...inner.tasks,
      lease: (request) => {
        calls.push('lease');
        return inner.tasks.lease(request);
      },
      settle: (request) => {
        for (const { decision } of request.settlements) calls.push(decision.type);
        return inner.tasks.settle(request);
      },
      extend: (request) => {
        calls.push(`extend ${request.leases.length}`);
        return inner.tasks.extend(request);
      },
    },
    workers: {
      ...inner.workers,
      waitForWork: (id, ms, signal) => {
        const given = new Promise<Leased>((resolve) => {
          answer = resolve;
        });
        return Promise.race([given, inner.workers.waitForWork(id, ms, signal)]);
      },
    },
  };
  const handed: Handing = {
    backend,
    calls,
    give: (lease) => {
      if (answer === undefined) throw new Error('no call waits');
      answer(lease);
      answer = undefined;
    },
  };
  return handed;
}

describe('a task that is handed to a worker', () => {
  let harness: Harness;
  let handed: Handing;
  const ran: string[] = [];
  const quick = task('quick', async (name: string) => {
    ran.push(name);
  });
  beforeEach(async () => {
    harness = await openMemory();
    handed = handing(harness.backend);
    ran.length = 0;
  });
  afterEach(() => harness.close());

  /** A worker that waits, and a task that is leased for it behind its back. */
  async function waiting(source = quick) {
    const loom = harness.loom([source], { backend: handed.backend });
    const worker = loom.worker({ id: 'w' });
    await worker.start();
    await harness.quiet();
    worker.pause();
    await harness.loom([quick]).enqueue(quick, 'one');
    const { leases } = await harness.backend.tasks.lease({
      requestId: 'handed00',
      ...{ worker: 'w', limit: 1, leaseMs: LIMITS.leaseMs, wait: false },
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
    });
    const [lease] = leases;
    if (lease === undefined) throw new Error('the worker was quicker');
    worker.resume();
    await harness.quiet();
    handed.calls.length = 0;
    return { loom, worker, lease };
  }

  it('runs without asking for anything, and is settled with the next lease', async () => {
    const { loom, lease } = await waiting();
    handed.give(lease);
    await harness.quiet();
    expect(ran).toEqual(['one']);
    expect(handed.calls).toEqual(['finish']);
    expect(await loom.tasks.get(lease.id)).toMatchObject({ state: 'finished' });
  });

  it('goes back at once while the worker is paused', async () => {
    const { loom, worker, lease } = await waiting();
    worker.pause();
    handed.give(lease);
    await harness.quiet();
    expect(handed.calls).toContain('release');
    expect(await loom.tasks.get(lease.id)).toMatchObject({ state: 'queued', releases: 0 });
    expect(ran).toEqual([]);
  });

  it('runs once when it comes twice', async () => {
    const end = gate();
    const slow = task('quick', async (name: string) => {
      ran.push(name);
      await end.passed;
    });
    const { lease } = await waiting(slow);
    handed.give(lease);
    await harness.quiet();
    handed.give(lease);
    await harness.quiet();
    expect(ran).toEqual(['one']);
    end.open();
  });
});
