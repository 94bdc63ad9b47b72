/** An owner that leaves in order: what it has taken it answers, and of all else its guests know that it was not taken. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Carry, NOT_TAKEN } from '../../../src/backends/file/log/calls.ts';
import type { OwnerClaim } from '../../../src/backends/file/socket/ownership.ts';
import { PROTOCOL } from '../../../src/backends/file/socket/wire.ts';
import { BackendFullError } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { FastClock, guestOf, newFolder, ownerOf, removeFolders } from './kit.ts';
import { RawSocket, rawOwner } from './raw.ts';

const FAREWELL = 1;

let folder: string;
let owner: OwnerClaim;
/** Calls that the owner has taken, which end when the test says so. */
let taken: { readonly call: unknown; readonly end: (answer: unknown) => void }[];
let carry: Carry;

beforeEach(async () => {
  folder = newFolder();
  owner = await ownerOf(folder);
  taken = [];
  carry = (name, [call, , signal]) =>
    new Promise((end) => {
      if (signal instanceof AbortSignal) signal.addEventListener('abort', () => end('timeout'));
      if (name === 'inspect.ping') end(taken.length);
      else taken.push({ call, end });
    });
  owner.listen(() => (name, args) => carry(name, args));
});

afterEach(async () => {
  await owner.release();
  removeFolders();
});

async function rawGuest(): Promise<RawSocket> {
  const raw = RawSocket.to(folder, 1);
  raw.send({ fairloom: PROTOCOL, epoch: 1, pid: 1 });
  await raw.count(1);
  return raw;
}

/** Until the owner has taken so many. */
async function areTaken(count: number): Promise<void> {
  while (taken.length < count) await new Promise((resolve) => setImmediate(resolve));
}

describe('an owner that leaves', () => {
  it('answers what it took, ends waits, says farewell, and takes nothing more until it hangs up', async () => {
    const raw = await rawGuest();
    raw.send([1, 'users.list', ['a']], [2, 'workers.waitForWork', ['w', 60_000]]);
    await areTaken(2);
    owner.leave();
    raw.send([3, 'users.list', ['b']], 0);
    await raw.count(3);
    taken[0]?.end('last');
    await raw.count(5);
    raw.send([4, 'users.list', ['c']], [5, 'inspect.waitForEnd', ['t', 1]], [2], 0);
    await raw.count(6);
    expect(raw.received.slice(1)).toEqual([[2, 'timeout'], 0, [1, 'last'], FAREWELL, 0]);
    expect(taken).toHaveLength(2);
    let isReleased = false;
    const released = owner.release().then(() => {
      isReleased = true;
    });
    raw.send(0);
    await raw.count(7);
    // It has not said that it has read the farewell: so long it may have missed an answer.
    expect(isReleased).toBe(false);
    raw.send(FAREWELL);
    await raw.closed;
    await released;
    expect(raw.received).toHaveLength(7);
  });

  it('leaves its guests in no doubt, wherever their calls are', async () => {
    const guest = await guestOf(folder);
    const many = LIMITS.guestCalls + 1_000;
    const answers = Array.from({ length: many }, (_, at) => guest.carry('users.list', [at]));
    await areTaken(LIMITS.guestCalls);
    owner.leave();
    // One that has not left the process when the farewell comes.
    const late = guest.carry('users.list', ['late']);
    for (const { call, end } of taken) end(call);
    const replies = await Promise.all(answers);
    expect(replies.slice(0, LIMITS.guestCalls)).toEqual(taken.map((_, at) => at));
    expect(new Set(replies.slice(LIMITS.guestCalls))).toEqual(new Set([NOT_TAKEN]));
    expect(await late).toBe(NOT_TAKEN);
    await guest.left;
    expect(await guest.carry('users.list', ['later'])).toBe(NOT_TAKEN);
    await owner.release();
    await guest.gone;
    expect(guest.isSilent).toBe(false);
    expect(taken).toHaveLength(LIMITS.guestCalls);
  });

  it('has taken nothing before it listens', async () => {
    const other = newFolder();
    const early = await ownerOf(other);
    const guest = await guestOf(other);
    const signal = new AbortController().signal;
    const calls = [
      ...Array.from({ length: LIMITS.guestCalls + 10 }, () => guest.carry('users.list', [])),
      guest.carry('inspect.waitForEnd', ['t', 60_000, signal]),
    ];
    await new Promise((resolve) => setImmediate(resolve));
    const released = early.release();
    expect(new Set(await Promise.all(calls))).toEqual(new Set([NOT_TAKEN]));
    await released;
  });

  it('refuses what it took and cannot do', async () => {
    carry = (_, [call]) =>
      new Promise((_resolve, reject) => {
        taken.push({ call, end: () => reject(new BackendFullError('tasks.enqueue', 'no room')) });
      });
    const guest = await guestOf(folder);
    const refusal = guest.carry('tasks.enqueue', [[]]).catch((error: unknown) => error);
    await areTaken(1);
    owner.leave();
    taken[0]?.end('');
    expect(await refusal).toBeInstanceOf(BackendFullError);
    await guest.left;
  });

  it('says so to those who come, who stay as long as it shows signs of life', async () => {
    owner.leave();
    let ticks = 0;
    const fast = new FastClock(200);
    const guest = await guestOf(folder, {
      now: () => fast.now(),
      setTimer: (ms, fire) =>
        fast.setTimer(ms, () => {
          ticks++;
          fire();
        }),
    });
    await guest.left;
    let isGone = false;
    void guest.gone.then(() => {
      isGone = true;
    });
    while (ticks < 80) await new Promise((resolve) => setImmediate(resolve));
    expect(isGone).toBe(false);
    await owner.release();
    await guest.gone;
    expect(guest.isSilent).toBe(false);
  });

  it('waits a second for one that does not read, and no other has to', async () => {
    const other = newFolder();
    const hasty = await ownerOf(other, new FastClock(20));
    const answer = 'x'.repeat(50_000);
    hasty.listen(() => async () => answer);
    const deaf = RawSocket.to(other, 1);
    deaf.send({ fairloom: PROTOCOL, epoch: 1, pid: 1 });
    await deaf.count(1);
    deaf.socket.pause();
    deaf.send(...Array.from({ length: 200 }, (_, at) => [at, 'users.list', []]));
    const guest = await guestOf(other);
    await guest.carry('users.list', []);
    const released = hasty.release();
    await guest.left;
    await released;
    await guest.gone;
    deaf.socket.resume();
    await deaf.closed;
    // What the system has kept for it, and not all that was for it.
    expect(deaf.received.length).toBeLessThan(200);
  });

  it('answers what it took when it has lost the folder, and nothing else', async () => {
    const guest = await guestOf(folder);
    const first = guest.carry('users.list', ['a']);
    await areTaken(1);
    rmSync(join(folder, 'owner-00000001'));
    expect(owner.stillOwns()).toBe(false);
    const second = guest.carry('users.list', ['b']);
    taken[0]?.end('an answer');
    expect(await first).toBe('an answer');
    expect(await second).toBe(NOT_TAKEN);
    await guest.gone;
  });

  it('is no more one than a process that is killed as long as it has not said so', async () => {
    const other = newFolder();
    await (await ownerOf(other)).release();
    const server = await rawOwner(other, 7, (raw) => {
      raw.send({ fairloom: PROTOCOL, epoch: 7, pid: 7 });
      void raw.count(2).then(() => raw.socket.destroy());
    });
    const guest = await guestOf(other);
    const refusal = guest.carry('users.list', []).catch((error: unknown) => error);
    expect(await refusal).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    server.close();
  });
});

describe('a guest', () => {
  it('may close while its owner leaves', async () => {
    const guest = await guestOf(folder);
    const wait = guest.carry('workers.waitForWork', ['w', 60_000, new AbortController().signal]);
    const call = guest.carry('users.list', ['a']);
    await areTaken(2);
    owner.leave();
    const closed = guest.close();
    taken[1]?.end('an answer');
    expect(await Promise.all([wait, call])).toEqual(['timeout', 'an answer']);
    await closed;
    await owner.release();
  });

  it('that closes after the farewell waits for no guest', async () => {
    const guest = await guestOf(folder);
    owner.leave();
    await guest.left;
    await guest.close();
    await guest.gone;
    expect(owner.stillOwns()).toBe(true);
  });

  it('does not say farewell by itself', async () => {
    const raw = await rawGuest();
    raw.send(FAREWELL);
    await raw.closed;
    expect(raw.received).toHaveLength(1);
  });
});
