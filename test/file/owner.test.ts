/** The owner: what it writes down, and that no caller hears of what a loss of power would undo. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { StepKind } from '../../src/backends/file/log/calls.ts';
import {
  type CallName,
  type Carry,
  kindOf,
  NOT_TAKEN,
  partsOf,
} from '../../src/backends/file/log/calls.ts';
import type { CommandLog } from '../../src/backends/file/log/command-log.ts';
import { Owner } from '../../src/backends/file/owner.ts';
import { Engine, EngineClock } from '../../src/backends/file/replay/engine.ts';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { Kit } from '../../src/conformance/kit.ts';
import { BackendFullError } from '../../src/domain/errors/errors.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import type { DeadLetters } from '../../src/domain/task/dead-letter.ts';
import { newTask } from '../support/file/some-state.ts';
import { HandClock } from '../support/hand-clock.ts';

/** A log whose disk is the test: each line is a commit of its own. */
class HandLog implements CommandLog {
  readonly lines: string[] = [];
  readonly isBroken = false;
  readonly broken = new Promise<void>(() => undefined);
  readonly bytes = { log: 0, folder: 0, taken: 0 };
  readonly isLow = false;
  readonly written = undefined;
  prepared = async (): Promise<boolean> => false;
  readonly #open: { readonly fulfil: () => void; readonly refuse: (error: Error) => void }[] = [];
  isQuick = true;
  isFull = false;
  /** What finds no room then. */
  refused: StepKind = 'growth';
  pending: Promise<void> | undefined;

  /** Of the calls that were written down. */
  get names(): readonly unknown[] {
    return this.lines.map((line) => JSON.parse(line)[1]);
  }

  admit(_line: string, kind: StepKind): void {
    if (this.isFull && kind === this.refused) throw new BackendFullError('write', 'on purpose');
  }

  append(line: string): Promise<void> {
    this.lines.push(line);
    if (this.isQuick) return Promise.resolve();
    const written = new Promise<void>((fulfil, refuse) => {
      this.#open.push({ fulfil, refuse });
    });
    this.pending = written;
    return written;
  }

  /** The disk has what was written. */
  settle(error?: Error): void {
    this.pending = undefined;
    for (const { fulfil, refuse } of this.#open.splice(0)) {
      if (error === undefined) fulfil();
      else refuse(error);
    }
  }

  seal = async (): Promise<number> => 0;
  forget = (): void => undefined;
  close = async (): Promise<void> => undefined;
}

let log: HandLog;
let owner: Owner;
let carry: Carry;
let kit: Kit;
let spaces: (() => Promise<boolean>)[];
let stillOwns: boolean;
let told: DeadLetters[];

beforeEach(() => {
  const clock = new HandClock();
  log = new HandLog();
  spaces = [];
  stillOwns = true;
  told = [];
  owner = new Owner({
    engine: new Engine(new EngineClock(clock)),
    log,
    grown: () => undefined,
    problems: () => [],
    stillOwns: () => stillOwns,
    deadLetters: (letters) => told.push(letters),
    makeSpace: () => spaces.shift()?.() ?? Promise.resolve(false),
  });
  carry = owner.asker();
  const backend: Backend = {
    name: 'file',
    capabilities: { durable: true, shared: true },
    ...partsOf(carry),
    open: async () => ({ description: '', warnings: [] }),
    close: () => owner.close(),
  };
  kit = new Kit(
    {
      backend,
      advance: async (ms) => clock.move(ms),
      now: () => clock.now(),
      close: async () => undefined,
    },
    expect,
  );
});

const RETENTION = { finishedMs: 1, failedMs: 2, canceledMs: 3 };

function enqueue(id: string): Promise<unknown> {
  return carry('tasks.enqueue', [[newTask({ id })], { atomic: true }]);
}

/** Whether it was answered by now. */
async function isAnswered(call: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  call.then(end, end);
  await new Promise((resolve) => setImmediate(resolve));
  return isOver;
}

describe('an owner', () => {
  it('answers a step when the disk has it, and no read sees it before', async () => {
    await enqueue('a');
    const end = carry('inspect.waitForEnd', ['a', 60_000, new AbortController().signal]);
    log.isQuick = false;
    const cancel = carry('tasks.cancel', ['a', { type: 'request', reason: 'so' }]);
    const look = carry('inspect.status', [['a']]);
    for (const call of [cancel, look, end]) expect(await isAnswered(call)).toBe(false);
    log.settle();
    expect(await cancel).toMatchObject({ kind: 'canceled' });
    expect(await look).toMatchObject([{ state: 'canceled' }]);
    expect(await end).toMatchObject({ state: 'canceled' });
  });

  it('is none any more when it is unknown what the disk has: it refuses what it took, and takes nothing', async () => {
    log.isQuick = false;
    const [first, second] = [enqueue('a'), carry('inspect.status', [['a']])];
    log.settle(new Error('EIO'));
    await expect(first).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    await expect(second).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    expect(await enqueue('b')).toBe(NOT_TAKEN);
    expect(log.lines).toHaveLength(1);
  });

  it('writes down what changes something, and nothing else', async () => {
    await kit.worker('w');
    await kit.add({ id: 'a' });
    const leased = await kit.leaseOne();
    await kit.backend.tasks.extend({ worker: 'w', leases: [leased], leaseMs: 60_000 });
    await kit.state('a');
    await kit.finish(leased);
    expect(log.names).toEqual([
      'workers.register',
      'tasks.enqueue',
      'tasks.lease',
      'tasks.extend',
      'tasks.settle',
    ]);
  });

  it('writes down how long ended tasks are kept, when that is another than before', async () => {
    await carry('retention', [RETENTION]);
    await enqueue('a');
    const other = owner.asker();
    await other('retention', [{ ...RETENTION }]);
    await other('tasks.tick', []);
    await other('retention', [{ ...RETENTION, failedMs: 9 }]);
    await other('tasks.tick', []);
    expect(log.names).toEqual([
      'retention',
      'tasks.enqueue',
      'tasks.tick',
      'retention',
      'tasks.tick',
    ]);
    await owner.mark();
    expect(log.names.at(-1)).toBe('retention');
  });

  it('takes a task away in as many steps as it needs, before it leaves', async () => {
    await kit.worker('w');
    await kit.add({ id: 'a' });
    await kit.fail(await kit.leaseOne());
    const edges = {
      onFailure: 'wait',
      onCancel: 'cancel',
      onMissing: 'refuse',
      allowCrossUser: false,
    } as const;
    await kit.addMany(LIMITS.cascadeStep + 1, { dependsOn: ['a'], edges });
    const removal = kit.backend.tasks.remove('a');
    await owner.close();
    expect(await removal).toMatchObject({ kind: 'ok' });
    expect(log.names.filter((name) => name === 'remove').length).toBeGreaterThan(1);
  });

  it('takes no calls once it leaves', async () => {
    const closed = owner.close();
    expect(await enqueue('a')).toBe(NOT_TAKEN);
    expect(await carry('retention', [RETENTION])).toBe(NOT_TAKEN);
    await closed;
    expect(log.lines).toEqual([]);
  });
});

describe('where there is no room', () => {
  beforeEach(() => {
    log.isFull = true;
  });

  it('growth waits until there is some, and what makes nothing more does not', async () => {
    spaces = [
      async () => true,
      async () => {
        log.isFull = false;
        return true;
      },
    ];
    expect(await carry('tasks.tick', [])).toMatchObject({ more: false });
    expect(spaces).toHaveLength(2);
    expect(await enqueue('a')).toMatchObject([{ kind: 'created' }]);
    expect(log.names).toEqual(['tasks.tick', 'tasks.enqueue']);
  });

  it('growth is refused when there is none to be made, and nothing has changed', async () => {
    await expect(enqueue('a')).rejects.toMatchObject({ code: 'BACKEND_FULL' });
    log.isFull = false;
    expect(await carry('inspect.status', [['a']])).toEqual([undefined]);
    expect(log.lines).toEqual([]);
  });

  // F134
  it('the dead letters of its own ticks are told, each once', async () => {
    log.isFull = false;
    await kit.worker('w');
    await kit.send({ id: 'late', expiresInMs: 1_000 });
    await kit.shift(2_000);
    Object.assign(log, { isFull: true, refused: 'start' });
    for (let times = 0; times < 2; times++) {
      await expect(kit.leaseOne({ worker: 'w' })).rejects.toMatchObject({ code: 'BACKEND_FULL' });
    }
    expect(told).toMatchObject([{ listed: [{ id: 'late', cause: { type: 'expired' } }], more: 0 }]);
  });

  it('growth that waits goes to the next owner when this one leaves', async () => {
    for (const hasSpace of [true, false]) {
      spaces = [
        async () => {
          await owner.close();
          return hasSpace;
        },
      ];
      expect(await enqueue('a')).toBe(NOT_TAKEN);
    }
  });
});

it('a clock fires no timers until time goes by itself', () => {
  const clock = new HandClock();
  const pinned = new EngineClock(clock);
  const fired: string[] = [];
  pinned.setTimer(1, () => fired.push('early'));
  pinned.isRunning = true;
  pinned.setTimer(1, () => fired.push('late'));
  clock.move(1);
  expect(fired).toEqual(['late']);
});

// F96
it('a former owner answers no look and no wait: each is made of the next one', async () => {
  const { open, close, name, capabilities, ...parts } = memory();
  const calls = Object.entries(parts).flatMap(([part, methods]) =>
    Object.keys(methods).map((method) => `${part}.${method}`),
  );
  const reading = calls.filter((call) => ['look', 'wait'].includes(kindOf(call) ?? ''));
  expect(reading.length).toBeGreaterThan(25);
  await enqueue('a');
  stillOwns = false;
  for (const call of reading) {
    const over = AbortSignal.abort();
    const args = kindOf(call) === 'wait' ? ['a', 1_000, over] : argsFor(call);
    expect([call, await carry(call as CallName, args)]).toEqual([call, NOT_TAKEN]);
  }
});

/** What each look takes, where that is no id. */
function argsFor(call: string): readonly unknown[] {
  const page = { limit: 10 };
  const lists: Readonly<Record<string, readonly unknown[]>> = {
    'users.get': ['u', 'default'],
    'users.everywhere': [['u']],
    'users.list': ['default', page],
    'workers.confirm': ['w', { id: 'a', token: '' }],
    'inspect.get': [['a']],
    'inspect.owners': [['a']],
    'inspect.status': [['a']],
    'inspect.list': [{ state: 'queued' }, page],
    'inspect.errorGroups': [page],
    'inspect.dependents': ['a', page],
    'schedules.list': [page],
    'xcom.read': [[]],
    'xcom.list': [{ user: 'u', namespace: 'n' }, page],
    'xcom.namespaces': ['u', page],
    'streams.read': [{ id: 'a', name: 's', from: 0 }, page],
    'asks.list': [{}, page],
    'series.read': [{ step: 'minute' }],
    'runs.readChannel': ['a', 'c', []],
  };
  return lists[call] ?? ['a'];
}
