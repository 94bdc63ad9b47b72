import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { claim } from '../../../src/backends/file/socket/ownership.ts';
import { PROTOCOL } from '../../../src/backends/file/socket/wire.ts';
import type { Clock } from '../../../src/base/time.ts';
import {
  BackendUnavailableError,
  BackendUnsupportedError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { HandClock } from '../../support/hand-clock.ts';
import {
  deadSocket,
  FastClock,
  guestOf,
  newFolder,
  ownerOf,
  removeFolders,
  servedMemory,
} from './kit.ts';
import { rawOwner } from './raw.ts';

const GREETING = { fairloom: PROTOCOL, epoch: 1, pid: 7 };

afterEach(removeFolders);

/** A claim that is refused. */
function refusedClaim(folder: string, clock: Clock = new FastClock(100)): Promise<unknown> {
  return claim(folder, { clock, operation: 'open' }).then(
    ({ kind }) => kind,
    (error: unknown) => error,
  );
}

describe('the owner of a folder', () => {
  it('is the first who claims it; who comes later asks it', async () => {
    const folder = newFolder();
    const owner = await servedMemory(folder);
    expect(owner.epoch).toBe(1);
    expect(owner.stillOwns()).toBe(true);
    expect(readdirSync(folder)).toEqual(['owner-00000001']);
    const guest = await guestOf(folder);
    expect(guest.epoch).toBe(1);
    expect(guest.description).toBe(`embedded, in ${folder}, which process ${process.pid} has open`);
    expect(await guest.carry('inspect.ping', [])).toEqual({ ms: 0 });
    await guest.close();
    await guest.gone;
    await owner.release();
    expect(readdirSync(folder)).toEqual([]);
    expect(owner.stillOwns()).toBe(false);
    await owner.over;
  });

  it('lets no other user in', async () => {
    const folder = newFolder();
    const owner = await ownerOf(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'owner-00000001')).mode & 0o777).toBe(0o600);
    await owner.release();
  });

  it('warns where others could write', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    chmodSync(folder, 0o770);
    const owner = await ownerOf(folder);
    expect(owner.warnings).toEqual([
      `others than its owner may write into ${folder} (mode 770): chmod 700`,
    ]);
    await owner.release();
    chmodSync(folder, 0o755);
    const next = await ownerOf(folder);
    expect(next.warnings).toEqual([]);
    await next.release();
  });

  it('is another process once it has let go', async () => {
    const folder = newFolder();
    const first = await servedMemory(folder);
    const guest = await guestOf(folder);
    await Promise.all([first.release(), first.release()]);
    await guest.gone;
    expect(guest.isSilent).toBe(false);
    const second = await ownerOf(folder);
    expect(second.stillOwns()).toBe(true);
    await second.release();
  });

  it('has a higher epoch than anything that was written', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, 'log-00000041-00000003'), '');
    writeFileSync(join(folder, 'state-000000000099'), '');
    const owner = await ownerOf(folder);
    expect(owner.epoch).toBe(42);
    await owner.release();
  });

  it('takes the place of what is no socket, or is not open, and of claims that came to nothing', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, 'owner-00000003'), '');
    await deadSocket(join(folder, 'owner-00000005'));
    await deadSocket(join(folder, 'claim-00000000'));
    const owner = await ownerOf(folder);
    expect(readdirSync(folder)).toEqual(['owner-00000006']);
    await owner.release();
  });

  it('is none any more when its folder is removed', async () => {
    const folder = newFolder();
    const owner = await ownerOf(folder, new FastClock(50));
    const guest = await guestOf(folder);
    rmSync(folder, { recursive: true });
    expect(owner.stillOwns()).toBe(false);
    await owner.over;
    await guest.gone;
    await owner.release();
    expect(existsSync(folder)).toBe(false);
  });

  it('is none any more when another folder is in its place, with an owner of the same epoch', async () => {
    const folder = newFolder();
    const owner = await ownerOf(folder);
    renameSync(folder, `${folder}-before`);
    const other = await ownerOf(folder);
    expect(other.epoch).toBe(owner.epoch);
    expect(owner.stillOwns()).toBe(false);
    expect(other.stillOwns()).toBe(true);
    await owner.release();
    expect(readdirSync(folder)).toEqual(['owner-00000001']);
    await other.release();
  });

  it('notices by itself that it is none any more, and hangs up', async () => {
    const folder = newFolder();
    const owner = await ownerOf(folder, new FastClock(50));
    const guest = await guestOf(folder);
    rmSync(join(folder, 'owner-00000001'));
    await owner.over;
    await guest.gone;
    expect(owner.stillOwns()).toBe(false);
    await owner.release();
  });

  it('looks again and again', async () => {
    const folder = newFolder();
    const clock = new HandClock();
    const owner = await ownerOf(folder, clock);
    let isOver = false;
    void owner.over.then(() => {
      isOver = true;
    });
    for (const [isThere, over] of [
      [true, false],
      [true, false],
      [false, true],
    ]) {
      if (isThere === false) rmSync(join(folder, 'owner-00000001'));
      clock.move(LIMITS.ownerPingMs);
      await Promise.resolve();
      expect(isOver).toBe(over);
    }
    await owner.release();
  });
});

describe('a claim that is overtaken', () => {
  /** What happens while the next claim has no name yet: before it listens, or when it does. */
  function meanwhile(act: () => void, when: 'before' | 'after'): void {
    const listen = Server.prototype.listen;
    vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function (
      this: Server,
      ...args: unknown[]
    ) {
      if (when === 'before') act();
      Reflect.apply(listen, this, args);
      if (when === 'after') this.once('listening', act);
      return this;
    });
  }

  it('by a higher one gives its own up', async () => {
    const folder = newFolder();
    meanwhile(() => writeFileSync(join(folder, 'owner-00000003'), ''), 'before');
    const owner = await ownerOf(folder);
    expect(owner.epoch).toBe(4);
    expect(readdirSync(folder)).toEqual(['owner-00000004']);
    await owner.release();
  });

  it('by one of the same number looks again', async () => {
    const folder = newFolder();
    meanwhile(() => writeFileSync(join(folder, 'owner-00000001'), ''), 'before');
    const owner = await ownerOf(folder);
    expect(owner.epoch).toBe(2);
    expect(readdirSync(folder)).toEqual(['owner-00000002']);
    await owner.release();
  });

  it('by one that removes what is about to become an owner looks again', async () => {
    const folder = newFolder();
    let removed = 0;
    meanwhile(() => {
      for (const name of readdirSync(folder)) {
        rmSync(join(folder, name));
        removed++;
      }
    }, 'after');
    const owner = await ownerOf(folder);
    expect(removed).toBe(1);
    expect(owner.epoch).toBe(1);
    expect(readdirSync(folder)).toEqual(['owner-00000001']);
    await owner.release();
  });
});

describe('a path that is longer than a socket may have', () => {
  it('goes through a link, of which nothing is left', async () => {
    const start = newFolder();
    const temporary = join(dirname(start), 't');
    mkdirSync(temporary);
    vi.stubEnv('TMPDIR', temporary);
    try {
      const folder = join(start, 'a'.repeat(100), 'b'.repeat(100));
      const owner = await servedMemory(folder);
      const guest = await guestOf(folder);
      expect(await guest.carry('inspect.ping', [])).toEqual({ ms: 0 });
      expect(owner.stillOwns()).toBe(true);
      expect(readdirSync(folder)).toEqual(['owner-00000001']);
      expect(readdirSync(temporary)).toEqual([]);
      await guest.close();
      await owner.release();
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('is refused where that of the link is as well', async () => {
    const start = newFolder();
    const temporary = join(start, 't'.repeat(100));
    mkdirSync(temporary, { recursive: true });
    vi.stubEnv('TMPDIR', temporary);
    try {
      const refusal = await refusedClaim(join(start, 'a'.repeat(100)));
      expect(refusal).toBeInstanceOf(BackendUnsupportedError);
      expect(refusal).toMatchObject({ message: expect.stringContaining('too long for a socket') });
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('a claim is refused', () => {
  it('on Windows', async () => {
    const { platform } = process;
    Object.defineProperty(process, 'platform', { value: 'win32' });
    try {
      const refusal = await refusedClaim(newFolder());
      expect(refusal).toBeInstanceOf(BackendUnsupportedError);
      expect(refusal).toMatchObject({ message: expect.stringContaining('Windows') });
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
    }
  });

  it('on a file system of several machines', async () => {
    const { statfsSync } = fs;
    const nfs = { ...statfsSync('/'), type: 0x6969 };
    fs.statfsSync = Object.assign(() => nfs, statfsSync);
    syncBuiltinESMExports();
    try {
      const folder = newFolder();
      const refusal = await refusedClaim(folder);
      expect(refusal).toBeInstanceOf(BackendUnsupportedError);
      expect(refusal).toMatchObject({
        message: `${folder} is on NFS: file() needs a disk of one machine, or use redis()`,
      });
    } finally {
      fs.statfsSync = statfsSync;
      syncBuiltinESMExports();
    }
  });

  it('where no folder can be', async () => {
    const path = newFolder();
    writeFileSync(path, '');
    const refusal = await refusedClaim(path);
    expect(refusal).toBeInstanceOf(BackendUnavailableError);
    expect(refusal).toMatchObject({ message: expect.stringContaining('open: ') });
  });

  it('by a file system that takes no sockets', async () => {
    const refusal = await refusedClaim('/sys');
    expect(refusal).toBeInstanceOf(BackendUnavailableError);
    expect(readdirSync('/sys').filter((name) => name.startsWith('claim-'))).toEqual([]);
  });

  it('when the owner speaks another protocol', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const server = await rawOwner(folder, 1, (raw) =>
      raw.send({ ...GREETING, fairloom: PROTOCOL + 1 }),
    );
    const refusal = await refusedClaim(folder);
    expect(refusal).toBeInstanceOf(BackendUnsupportedError);
    expect(refusal).toMatchObject({
      message: `process 7 has ${folder} open and speaks protocol ${PROTOCOL + 1}, this one ${PROTOCOL}: all processes of a folder need the same version`,
    });
    server.close();
  });

  it('when what listens there is no owner', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const server = await rawOwner(folder, 1, ({ socket }) => socket.write('220 mail ready\r\n'));
    expect(await refusedClaim(folder)).toBeInstanceOf(BackendUnavailableError);
    server.close();
  });

  it('when the socket of an owner has the name of another one', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const server = await rawOwner(folder, 2, (raw) => raw.send(GREETING));
    expect(await refusedClaim(folder)).toMatchObject({
      message: expect.stringContaining('comes and goes'),
    });
    server.close();
  });

  it('when owners do nothing but hang up', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const server = await rawOwner(folder, 1, ({ socket }) => socket.destroy());
    const refusal = await refusedClaim(folder);
    expect(refusal).toBeInstanceOf(BackendUnavailableError);
    expect(refusal).toMatchObject({ message: expect.stringContaining('comes and goes') });
    server.close();
  });
});

describe('an owner that does not answer', () => {
  it('is taken over from when another process comes, once it has read the data', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, 'log-00000001-00000001'), '');
    const server = await rawOwner(folder, 1, () => undefined);
    const owner = await ownerOf(folder, new FastClock(50));
    expect(owner.epoch).toBe(2);
    expect(readdirSync(folder)).not.toContain('owner-00000001');
    await owner.release();
    server.close();
  });

  it('is not waited for twice', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const server = await rawOwner(folder, 1, () => undefined);
    let timers = 0;
    const fast = new FastClock(100);
    const clock: Clock = {
      now: () => fast.now(),
      setTimer: (ms, fire) => {
        timers++;
        return fast.setTimer(ms, fire);
      },
    };
    const claimed = await claim(folder, { clock, operation: 'open', silent: 1 });
    expect(claimed.kind).toBe('owner');
    // One sign of life that does not come, and the watch of the new owner.
    expect(timers).toBe(2);
    if (claimed.kind === 'owner') await claimed.release();
    server.close();
  });

  it('is given up by its guests, who count what they asked and not the time', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, 'log-00000001-00000001'), '');
    const asked: unknown[] = [];
    const server = await rawOwner(folder, 1, (raw) => {
      raw.send(GREETING);
      asked.push(raw.received);
    });
    const guest = await guestOf(folder, new FastClock(50));
    const refusal = guest.carry('inspect.ping', []).catch((error: unknown) => error);
    await guest.gone;
    expect(guest.isSilent).toBe(true);
    expect(await refusal).toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      message: expect.stringContaining('does not answer'),
    });
    // A greeting, a call, and five signs of life that did not come, the first of which was the greeting's.
    expect(asked).toEqual([
      [{ fairloom: PROTOCOL, epoch: 1, pid: process.pid }, [1, 'inspect.ping', []], 0, 0, 0, 0],
    ]);
    server.close();
  });

  it('is given up in peace when its folder is not there any more', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const server = await rawOwner(folder, 1, (raw) => raw.send(GREETING));
    const guest = await guestOf(folder, new FastClock(100));
    rmSync(folder, { recursive: true });
    await guest.gone;
    expect(guest.isSilent).toBe(true);
    server.close();
  });

  it('is no dead one as long as it answers', async () => {
    const folder = newFolder();
    const owner = await ownerOf(folder);
    owner.listen(() => async () => undefined);
    writeFileSync(join(folder, 'log-00000001-00000001'), '');
    let ticks = 0;
    const fast = new FastClock(500);
    const clock: Clock = {
      now: () => fast.now(),
      setTimer: (ms, fire) =>
        fast.setTimer(ms, () => {
          ticks++;
          fire();
        }),
    };
    const guest = await guestOf(folder, clock);
    while (ticks < 50) await new Promise((resolve) => setImmediate(resolve));
    expect(await guest.carry('inspect.ping', [])).toBeUndefined();
    await guest.close();
    await owner.release();
  });
});
