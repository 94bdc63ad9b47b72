import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Carry, NOT_TAKEN } from '../../../src/backends/file/log/calls.ts';
import type { Guest, OwnerClaim } from '../../../src/backends/file/socket/ownership.ts';
import { PROTOCOL } from '../../../src/backends/file/socket/wire.ts';
import {
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  ClosedError,
  InvalidOptionError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { FastClock, guestOf, newFolder, ownerOf, removeFolders } from './kit.ts';
import { frame, RawSocket } from './raw.ts';

const GREETING = { fairloom: PROTOCOL, epoch: 1, pid: 1 };
const MANY = 3_000;

let folder: string;
let owner: OwnerClaim;
let guest: Guest;
/** What is asked of the owner; by default a call of users answers its own arguments. */
let carry: Carry;

beforeEach(async () => {
  folder = newFolder();
  owner = await ownerOf(folder);
  carry = async (_, args) => args;
  owner.listen(() => (name, args) => carry(name, args));
  guest = await guestOf(folder);
});

afterEach(async () => {
  await guest.close();
  await owner.release();
  removeFolders();
});

/** A connection that has greeted as a guest does. */
async function rawGuest(): Promise<RawSocket> {
  const raw = RawSocket.to(folder, 1);
  raw.send(GREETING);
  await raw.count(1);
  return raw;
}

async function refusalOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => 'an answer',
    (error: unknown) => error,
  );
}

describe('what is no guest', () => {
  it.each([
    ['text', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['zeros', Buffer.alloc(64)],
    ['a message without a greeting', frame('[1,"inspect.ping",[]]')],
    ['no JSON', frame('{')],
    ['a length without an end', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    [
      'a greeting that is too long',
      frame(JSON.stringify({ ...GREETING, more: 'x'.repeat(2_000) })),
    ],
  ])('is hung up on, and no other is: %s', async (_, bytes) => {
    const raw = RawSocket.to(folder, 1);
    raw.socket.write(bytes);
    await raw.closed;
    expect(await guest.carry('users.list', ['q'])).toEqual(['q']);
  });

  it.each([
    ['no JSON', frame('{')],
    ['a message of no kind', frame('"x"')],
    ['a call without a number', frame('["x","users.list",[]]')],
    ['a call without arguments', frame('[1,"users.list"]')],
    ['a message that is too long', Buffer.from([0x7f, 0xff, 0xff, 0xff, 0x5b])],
  ])('is hung up on after its greeting as well: %s', async (_, bytes) => {
    const raw = await rawGuest();
    raw.socket.write(bytes);
    await raw.closed;
    expect(await guest.carry('users.list', ['q'])).toEqual(['q']);
  });

  it('may leave in the middle of a message', async () => {
    const raw = await rawGuest();
    raw.socket.end(frame('[1,"users.list",["q"]]').subarray(0, 9));
    await raw.closed;
    expect(raw.received).toHaveLength(1);
    expect(await guest.carry('users.list', ['q'])).toEqual(['q']);
  });

  it('is hung up on when it does not say who it is', async () => {
    const clock = new FastClock(50);
    const other = newFolder();
    const hasty = await ownerOf(other, clock);
    const raw = RawSocket.to(other, 1);
    await raw.closed;
    expect(raw.received).toHaveLength(1);
    await hasty.release();
  });

  it('and speaks another protocol has ours, and no answers', async () => {
    const raw = RawSocket.to(folder, 1);
    raw.send({ ...GREETING, fairloom: PROTOCOL + 1 }, [1, 'users.list', ['q']]);
    await raw.closed;
    expect(raw.received).toEqual([{ fairloom: PROTOCOL, epoch: 1, pid: process.pid }]);
  });
});

describe('calls', () => {
  it('that are unknown are refused, and others are not', async () => {
    const raw = await rawGuest();
    raw.send([1, 'users.rename', []], [2, 'users.list', ['q']]);
    await raw.count(3);
    expect(raw.received.slice(1)).toEqual([
      [1, null, { code: 'BACKEND_UNSUPPORTED', message: expect.stringContaining('users.rename') }],
      [2, ['q']],
    ]);
    raw.socket.destroy();
  });

  it('do not wait for each other', async () => {
    let end: (answer: string) => void = () => undefined;
    const late = new Promise<string>((resolve) => {
      end = resolve;
    });
    carry = (name, args) => (args[0] === 'late' ? late : Promise.resolve(name));
    const first = guest.carry('queues.get', ['late']);
    expect(await guest.carry('queues.get', ['other'])).toBe('queues.get');
    end('at last');
    expect(await first).toBe('at last');
  });

  it('that have no end are given up when the guest closes', async () => {
    const other = newFolder();
    const hasty = await ownerOf(other);
    hasty.listen(() => () => new Promise(() => undefined));
    const one = await guestOf(other, new FastClock(20));
    const refusal = refusalOf(one.carry('users.list', ['q']));
    await one.close();
    expect(await refusal).toBeInstanceOf(ClosedError);
    await hasty.release();
  });

  it('are carried out in order, also those that were made before anything could be', async () => {
    const other = newFolder();
    const late = await ownerOf(other);
    const early = await guestOf(other);
    const asked: unknown[] = [];
    const first = Array.from({ length: 5 }, (_, at) => early.carry('queues.get', [at]));
    await new Promise((resolve) => setImmediate(resolve));
    late.listen(() => async (_, args) => asked.push(args[0]));
    const then = Array.from({ length: 5 }, (_, at) => early.carry('queues.get', [5 + at]));
    await Promise.all([...first, ...then]);
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await early.close();
    await late.release();
  });

  it('of each guest are carried out by a carrier of its own', async () => {
    const other = newFolder();
    const shared = await ownerOf(other);
    let carriers = 0;
    shared.listen(() => {
      carriers++;
      const number = carriers;
      return async () => number;
    });
    const [one, two] = [await guestOf(other), await guestOf(other)];
    expect(await one.carry('retention', [])).toBe(1);
    expect(await two.carry('retention', [])).toBe(2);
    expect(await one.carry('inspect.ping', [])).toBe(1);
    await Promise.all([one.close(), two.close()]);
    await shared.release();
  });

  it('carry texts of any length and of any characters', async () => {
    const texts = ['', 'ä€😀', '\u0000\u2028', 'x'.repeat(3_000_000), '😀'.repeat(500_000)];
    const answers = await Promise.all(texts.map((text) => guest.carry('users.list', [text])));
    expect(answers).toEqual(texts.map((text) => [text]));
  });

  it.each([
    [
      new BackendFullError('tasks.enqueue', new TypeError('the disk is full')),
      BackendFullError,
      {
        cause: 'the disk is full',
        message: 'tasks.enqueue: the backend takes no new work (the disk is full)',
      },
    ],
    [
      new BackendUnavailableError('x', 'EIO'),
      BackendUnavailableError,
      { message: 'tasks.enqueue: the backend is unavailable (EIO)' },
    ],
    [
      new BackendUnsupportedError('of another law'),
      BackendUnsupportedError,
      { message: 'of another law' },
    ],
    [
      new InvalidOptionError('cursor', 'a cursor', 'x'),
      InvalidOptionError,
      { message: 'cursor: expected a cursor, got "x"' },
    ],
  ])('that fail do so as they did there: %s', async (error, kind, said) => {
    carry = () => Promise.reject(error);
    const refusal = await refusalOf(guest.carry('tasks.enqueue', [[]]));
    expect(refusal).toBeInstanceOf(kind);
    expect(refusal).toMatchObject({ code: error.code, retryable: error.retryable });
    expect(refusal).toMatchObject(said);
  });

  it('of an owner that is closed may be made again, since another follows', async () => {
    carry = () => Promise.reject(new ClosedError('the backend'));
    const refusal = await refusalOf(guest.carry('inspect.ping', []));
    expect(refusal).toMatchObject({ code: 'BACKEND_UNAVAILABLE', retryable: true });
  });

  it('that meet a mistake in the code fail by what it says', async () => {
    carry = () => Promise.reject(new TypeError('x is not a function'));
    const refusal = await refusalOf(guest.carry('inspect.ping', []));
    expect(refusal).toMatchObject({ message: expect.stringContaining('x is not a function') });
    expect(refusal).not.toHaveProperty('code');
  });
});

describe('waits', () => {
  it('end when their signal aborts, with the answer of the owner', async () => {
    carry = (_, args) => untilAborted(args);
    const stop = new AbortController();
    const wait = guest.carry('workers.waitForWork', ['w', 60_000, stop.signal]);
    stop.abort();
    expect(await wait).toBe('aborted w');
    expect(await guest.carry('workers.waitForWork', ['v', 1, AbortSignal.abort()])).toBe(
      'aborted v',
    );
  });

  it('of a guest that is gone are over', async () => {
    let isOver: (answer: unknown) => void = () => undefined;
    const over = new Promise((resolve) => {
      isOver = resolve;
    });
    carry = async (_, args) => isOver(await untilAborted(args));
    const raw = await rawGuest();
    raw.send([1, 'inspect.waitForEnd', ['t', 60_000]]);
    raw.socket.end();
    expect(await over).toBe('aborted t');
  });

  it('are not counted among the calls in hand', async () => {
    carry = (name, args) => (name === 'users.list' ? Promise.resolve(1) : untilAborted(args));
    const stop = new AbortController();
    const waits = Array.from({ length: MANY }, (_, at) =>
      guest.carry('inspect.waitForEnd', [`t${at}`, 60_000, stop.signal]),
    );
    expect(await guest.carry('users.list', [])).toBe(1);
    stop.abort();
    expect(await Promise.all(waits)).toHaveLength(MANY);
  });

  it('end when the guest closes', async () => {
    carry = (_, args) => untilAborted(args);
    const wait = guest.carry('workers.waitForWork', ['w', 60_000, new AbortController().signal]);
    await guest.close();
    expect(await wait).toBe('aborted w');
    expect(await refusalOf(guest.carry('inspect.ping', []))).toBeInstanceOf(ClosedError);
  });
});

describe('a guest that does not read', () => {
  it('is served no further, and harms no other', async () => {
    const long = 'x'.repeat(20_000);
    let asked = 0;
    carry = async (name) => {
      if (name === 'users.list') return 'other';
      asked++;
      return long;
    };
    const raw = await rawGuest();
    raw.socket.pause();
    raw.send(...Array.from({ length: MANY }, (_, at) => [at + 1, 'queues.get', ['q']]));
    for (let turn = 0; turn < 300; turn++)
      expect(await guest.carry('users.list', [])).toBe('other');
    // What fits into the socket, the answers that are kept for it, and the calls of one turn.
    expect(asked).toBeLessThanOrEqual(
      LIMITS.guestCalls + LIMITS.guestUnreadBytes / long.length + 10,
    );
    raw.socket.resume();
    await raw.count(1 + MANY);
    expect(asked).toBe(MANY);
    expect(raw.received.slice(1).map((message) => Reflect.get(Object(message), 0))).toEqual(
      Array.from({ length: MANY }, (_, at) => at + 1),
    );
    raw.socket.destroy();
  });

  it('has so many calls in hand, and no more', async () => {
    const ends: ((answer: number) => void)[] = [];
    carry = (name) =>
      name === 'users.list'
        ? Promise.resolve(ends.length)
        : new Promise((resolve) => {
            ends.push(resolve);
          });
    const raw = await rawGuest();
    raw.send(...Array.from({ length: MANY }, (_, at) => [at + 1, 'queues.get', ['q']]));
    while (ends.length < LIMITS.guestCalls) await guest.carry('users.list', []);
    for (let turn = 0; turn < 50; turn++) {
      expect(await guest.carry('users.list', [])).toBe(LIMITS.guestCalls);
    }
    for (const end of ends.splice(0, 10)) end(1);
    while (ends.length < LIMITS.guestCalls) await guest.carry('users.list', []);
    raw.socket.destroy();
    await raw.closed;
  });
});

describe('an owner that lets go', () => {
  it('answers what is in hand, takes no more, and waits no longer', async () => {
    const other = newFolder();
    // Nothing happens since time was over.
    const timeless = await ownerOf(other, {
      now: () => 0,
      setTimer: () => ({ cancel: () => undefined }),
    });
    const one = await guestOf(other);
    let asked: () => void = () => undefined;
    let end: (answer: string) => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    timeless.listen(() => () => {
      asked();
      return new Promise((resolve) => {
        end = resolve;
      });
    });
    const call = one.carry('users.list', ['q']);
    await isAsked;
    const released = timeless.release();
    end('last');
    expect(await call).toBe('last');
    await released;
    await one.gone;
    expect(one.isSilent).toBe(false);
    expect(await one.carry('users.list', ['q'])).toBe(NOT_TAKEN);
  });

  it('waits for no call that has no end', async () => {
    const other = newFolder();
    const hasty = await ownerOf(other, new FastClock(20));
    hasty.listen(() => () => new Promise(() => undefined));
    const one = await guestOf(other);
    const refusal = refusalOf(one.carry('users.list', ['q']));
    await new Promise((resolve) => setImmediate(resolve));
    await hasty.release();
    expect(await refusal).toBeInstanceOf(BackendUnavailableError);
  });
});

/** A wait that says whose it is, once its signal has aborted. */
function untilAborted(args: readonly unknown[]): Promise<string> {
  const signal = args.at(-1);
  if (!(signal instanceof AbortSignal)) throw new TypeError('a wait without a signal');
  const answer = `aborted ${args[0]}`;
  if (signal.aborted) return Promise.resolve(answer);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(answer));
  });
}
