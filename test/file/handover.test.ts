/** Owners of a data folder that close in order under load: every call of the others is carried out, and once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import { NOT_TAKEN } from '../../src/backends/file/log/calls.ts';
import { claim, type OwnerClaim } from '../../src/backends/file/socket/ownership.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { FATAL } from '../../src/conformance/kit.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import { RETENTION } from '../model/harness.ts';
import { newTask } from '../support/file/some-state.ts';
import { rounds } from '../support/rounds.ts';

const open: Backend[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const backend of open.splice(0)) await backend.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-handover-'));
  folders.push(folder);
  return folder;
}

async function opened(folder: string): Promise<Backend> {
  const backend = file(folder);
  open.push(backend);
  await backend.open({ retention: RETENTION });
  return backend;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Some processes; the first of them is the owner. */
async function members(folder: string, count: number): Promise<Backend[]> {
  const all: Backend[] = [];
  for (let at = 0; at < count; at++) all.push(await opened(folder));
  return all;
}

/**
 * Owners go and others come, while each of the others makes a call for each of its items; answers what was answered.
 */
async function whileOwnersGo<T>(
  folder: string,
  call: (backend: Backend, item: string) => Promise<T>,
  { perOwner, owners }: { readonly perOwner: number; readonly owners: number },
): Promise<ReadonlyMap<string, T>> {
  const all = await members(folder, 3);
  const answers = new Map<string, T>();
  for (let round = 0; round < owners; round++) {
    const [owner, ...others] = all;
    const calls = others.flatMap((backend, who) =>
      Array.from({ length: perOwner }, async (_, at) => {
        for (let waited = 0; waited < at % 40; waited++) await turn();
        const item = `${round}-${who}-${at}`;
        answers.set(item, await call(backend, item));
      }),
    );
    for (let waited = 0; waited < 5 + round; waited++) await turn();
    await Promise.all([owner?.close(), ...calls]);
    all.splice(0, 1);
    all.push(await opened(folder));
  }
  for (const backend of all) await backend.close();
  return answers;
}

describe('owners that close in turn', () => {
  it('leave no enqueue refused, none lost, and none made twice', async () => {
    const folder = newFolder();
    const replies = await whileOwnersGo(
      folder,
      async (backend, id) => {
        const reply = await backend.tasks.enqueue([newTask({ id })], { atomic: true });
        return reply.map(({ kind }) => kind).join();
      },
      { perOwner: 400, owners: rounds(20, 4) },
    );
    expect(new Set(replies.values())).toEqual(new Set(['created']));
    const last = await opened(folder);
    const found = await last.inspect.status([...replies.keys()]);
    expect(new Set(found.map((status) => status?.state))).toEqual(new Set(['queued']));
  });

  it('leave no dead letter put back twice', async () => {
    const folder = newFolder();
    const first = await opened(folder);
    const [perOwner, owners] = [60, 2];
    const ids = Array.from({ length: 2 * perOwner * owners }, (_, at) => {
      const who = at % 2;
      return `${Math.floor(at / (2 * perOwner))}-${who}-${Math.floor(at / 2) % perOwner}`;
    });
    await kill(first, ids);
    await first.close();
    const replies = await whileOwnersGo(folder, (backend, id) => backend.tasks.redrive(id), {
      perOwner,
      owners,
    });
    // A redrive of one that is back is told that it is in the wrong state.
    expect([...replies.values()]).toEqual(ids.map(() => ({ kind: 'ok', state: 'queued' })));
  });

  it('keep the order of what one process asks', async () => {
    const folder = newFolder();
    const [owner, guest] = await members(folder, 2);
    if (owner === undefined || guest === undefined) throw new TypeError('two were asked for');
    const made: Promise<unknown>[] = [];
    const make = (): void => {
      const id = String(made.length).padStart(4, '0');
      made.push(guest.tasks.enqueue([newTask({ id })], { atomic: true }));
    };
    let isClosed = false;
    const closed = owner.close().then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      for (let at = 0; at < 20; at++) make();
      await turn();
    }
    await closed;
    for (let at = 0; at < 20; at++) make();
    await Promise.all(made);
    const { items } = await guest.inspect.list(
      { queue: 'default', state: 'queued' },
      { limit: 100 },
    );
    const ids = items.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(made.length).toBeGreaterThan(40);
  });

  it('hand on a folder into which nothing was written yet', async () => {
    const [owner, guest] = await members(newFolder(), 2);
    await owner?.close();
    expect(await guest?.inspect.status(['a'])).toEqual([undefined]);
  });

  it('take a removal of many steps to its end', async () => {
    const folder = newFolder();
    const [owner, guest] = await members(folder, 2);
    if (owner === undefined || guest === undefined) throw new TypeError('two were asked for');
    await kill(owner, ['root']);
    const waiting = Array.from({ length: 5_000 }, (_, at) => `w${at}`);
    const edges = { onFailure: 'wait', onCancel: 'cancel', onMissing: 'block' } as const;
    for (let at = 0; at < waiting.length; at += 500) {
      const tasks = waiting
        .slice(at, at + 500)
        .map((id) =>
          newTask({ id, dependsOn: ['root'], edges: { ...edges, allowCrossUser: false } }),
        );
      await owner.tasks.enqueue(tasks, { atomic: true });
    }
    const removed = guest.tasks.remove('root');
    // The owner has it in hand.
    await guest.inspect.ping();
    const [removal] = await Promise.all([removed, owner.close()]);
    expect(removal).toEqual({ kind: 'ok' });
    expect(await guest.inspect.status(['root'])).toEqual([undefined]);
  });
});

describe('a process whose owner is leaving', () => {
  /** An owner that has said farewell and is still there. */
  async function leaving(folder: string): Promise<OwnerClaim> {
    const claimed = await claim(folder, { clock: systemClock, operation: 'open' });
    if (claimed.kind === 'guest') throw new Error(`${folder} has an owner`);
    claimed.listen(() => async () => NOT_TAKEN);
    claimed.leave();
    return claimed;
  }

  it('waits until that is gone, with all its calls, and goes on', async () => {
    const folder = newFolder();
    const owner = await leaving(folder);
    const backend = file(folder);
    open.push(backend);
    const opening = backend.open({ retention: RETENTION });
    const answers: string[] = [];
    const calls = ['a', 'b', 'c'].map(async (id) => {
      await backend.tasks.enqueue([newTask({ id })], { atomic: true });
      answers.push(id);
    });
    for (let waited = 0; waited < 200; waited++) await turn();
    expect(answers).toEqual([]);
    await owner.release();
    await Promise.all([opening, ...calls]);
    expect(answers).toEqual(['a', 'b', 'c']);
  });

  it('ends waits whose signal aborts meanwhile', async () => {
    const folder = newFolder();
    const owner = await leaving(folder);
    const backend = file(folder);
    open.push(backend);
    const stop = new AbortController();
    const { signal } = stop;
    const waits = [
      backend.workers.waitForWork('w', 60_000, signal),
      backend.inspect.waitForEnd('t', 60_000, signal),
    ];
    for (let waited = 0; waited < 50; waited++) await turn();
    stop.abort();
    expect(await Promise.all(waits)).toEqual(['timeout', undefined]);
    expect(await backend.inspect.waitForEnd('t', 60_000, signal)).toBeUndefined();
    await owner.release();
  });

  it('may close, and then its calls are refused as those of any that is closed', async () => {
    const folder = newFolder();
    const owner = await leaving(folder);
    const backend = file(folder);
    const call = backend.inspect.ping().catch((error: unknown) => error);
    for (let waited = 0; waited < 50; waited++) await turn();
    await backend.close();
    expect(await call).toMatchObject({ code: 'CLOSED' });
    expect(owner.stillOwns()).toBe(true);
    await owner.release();
  });
});

/** Stores tasks and makes dead letters of them. */
async function kill(backend: Backend, ids: readonly string[]): Promise<void> {
  const worker = 'killer';
  const spec = { id: worker, queues: ['default'], names: ['work'], concurrency: 10, host: 'h' };
  await backend.workers.register(spec, { starts: true });
  for (const id of ids) await backend.tasks.enqueue([newTask({ id })], { atomic: true });
  for (let killed = 0; killed < ids.length; ) {
    const { leases } = await backend.tasks.lease({
      requestId: `request${String(killed).padStart(5, '0')}`,
      worker,
      limit: 10,
      leaseMs: 30_000,
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
      wait: false,
    });
    const settlements = leases.map(({ id, token }) => ({
      id,
      token,
      decision: { type: 'dead-letter', cause: FATAL, error: '{}' } as const,
    }));
    await backend.tasks.settle({ worker, settlements });
    killed += leases.length;
  }
}
