import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { claim } from '../../../src/backends/file/socket/ownership.ts';
import { rounds } from '../../support/rounds.ts';
import { deadSocket, FastClock, newFolder, removeFolders } from './kit.ts';
import { Claimant, endProcesses, removeProgram } from './processes.ts';
import { RawSocket } from './raw.ts';

afterEach(() => {
  endProcesses();
  removeFolders();
});
afterAll(removeProgram);

/** The one of them that is the owner, once each of them is something; and the others. */
async function rolesOf(
  all: readonly Claimant[],
): Promise<readonly [Claimant, readonly Claimant[]]> {
  await Promise.all(all.map((one) => one.entered()));
  const [owner, ...more] = all.filter(({ isOwner }) => isOwner);
  expect(more).toEqual([]);
  if (owner === undefined) throw new Error('there is no owner');
  const guests = all.filter((one) => one !== owner);
  expect(guests.every(({ isGuest }) => isGuest)).toBe(true);
  return [owner, guests];
}

async function owns(one: Claimant): Promise<boolean | undefined> {
  one.forget();
  one.send('owns');
  return (await one.until('owns')).owns;
}

/** Guests first: none of them is to be the next owner. */
async function leave(owner: Claimant, guests: readonly Claimant[]): Promise<void> {
  for (const one of guests) one.send('leave');
  await Promise.all(guests.map((one) => one.until('left')));
  owner.send('leave');
  await owner.until('left');
}

describe('processes that share a folder', () => {
  it('twenty of them at once: one is the owner, the others ask it, and nothing is left of them', async () => {
    const folder = newFolder();
    const all = await Claimant.all(20, folder);
    for (let round = 0; round < rounds(100, 3); round++) {
      for (const one of all) one.forget();
      for (const one of all) one.send('enter');
      const [owner, guests] = await rolesOf(all);
      expect(readdirSync(folder)).toHaveLength(1);
      for (const one of guests) one.send('call');
      await Promise.all(guests.map((one) => one.until('answered')));
      expect(await owns(owner)).toBe(true);
      await leave(owner, guests);
      expect(readdirSync(folder)).toEqual([]);
    }
  });

  it('have another owner within a second of its death, and one', async () => {
    const folder = newFolder();
    let all = await Claimant.all(5, folder);
    for (const one of all) one.send('enter');
    for (let round = 0; round < rounds(200, 5); round++) {
      const [owner, guests] = await rolesOf(all);
      for (const one of guests) one.forget();
      const killedAt = Date.now();
      const [fresh] = await Promise.all([Claimant.start(folder), owner.kill()]);
      const [next, others] = await rolesOf(guests);
      const { at, epoch = 0 } = await next.until('owner');
      expect(at - killedAt).toBeLessThan(1_000);
      expect(readdirSync(folder)).toEqual([`owner-${String(epoch).padStart(8, '0')}`]);
      expect(epoch).toBeGreaterThan(round + 1);
      fresh.send('enter');
      all = [next, ...others, fresh];
    }
  });

  it('race for what a dead one has left: one gets it', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const all = await Claimant.all(3, folder);
    for (let round = 0; round < rounds(300, 15); round++) {
      await deadSocket(join(folder, 'owner-00000007'));
      for (const one of all) one.forget();
      for (const one of all) one.send('enter');
      const [owner, guests] = await rolesOf(all);
      expect((await owner.until('owner')).epoch).toBe(8);
      expect(readdirSync(folder)).toEqual(['owner-00000008']);
      await leave(owner, guests);
    }
  });

  it('take over from one that was stopped; when it goes on it owns nothing', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const all = await Claimant.all(4, folder, 4);
    for (const one of all) one.send('enter');
    const [owner, guests] = await rolesOf(all);
    // It has read the data, so it has no excuse.
    writeFileSync(join(folder, 'log-00000001-00000001'), '');
    for (const one of guests) one.forget();
    owner.signal('SIGSTOP');
    const [next] = await rolesOf(guests);
    expect((await next.until('owner')).epoch).toBe(2);
    const gone = await Promise.all(guests.map((one) => one.until('gone')));
    expect(gone.some(({ isSilent }) => isSilent)).toBe(true);
    owner.forget();
    owner.send('owns');
    owner.signal('SIGCONT');
    expect((await owner.until('owns')).owns).toBe(false);
    await owner.until('over');
    expect(await owns(next)).toBe(true);
  });

  it('take over from one that lets no guest in any more, since so many wait', async () => {
    const folder = newFolder();
    const owner = await Claimant.start(folder);
    owner.send('enter');
    await owner.until('owner');
    owner.signal('SIGSTOP');
    const crowd: RawSocket[] = [];
    for (let isFull = false; !isFull; ) {
      const raw = RawSocket.to(folder, 1);
      crowd.push(raw);
      isFull = await raw.isRefused;
    }
    const next = await claim(folder, { clock: new FastClock(20), operation: 'open' });
    expect(next).toMatchObject({ kind: 'owner', epoch: 2 });
    for (const { socket } of crowd) socket.destroy();
    if (next.kind === 'owner') await next.release();
  });

  it('leave nothing behind when they are killed at any moment, but what the next owner removes', async () => {
    const folder = newFolder();
    for (let round = 0; round < rounds(100, 4); round++) {
      const all = await Promise.all(Array.from({ length: 6 }, () => Claimant.idle(folder)));
      await Promise.all(all.map((one, at) => delay(20 + 20 * at).then(() => one.kill())));
    }
    const last = await Claimant.start(folder);
    last.send('enter');
    const { event, epoch = 0 } = await last.entered();
    expect(event).toBe('owner');
    expect(readdirSync(folder)).toEqual([`owner-${String(epoch).padStart(8, '0')}`]);
    last.send('leave');
    await last.until('left');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('wait longer for one that still reads the data', async () => {
    const folder = newFolder();
    const all = await Claimant.all(2, folder, 20);
    for (const one of all) one.send('enter');
    const [owner, [guest]] = await rolesOf(all);
    owner.signal('SIGSTOP');
    const stoppedAt = Date.now();
    const gone = await guest?.until('gone');
    // A minute, of which twenty pass at once here; one that is open has five seconds.
    expect((gone?.at ?? 0) - stoppedAt).toBeGreaterThan(2_500);
    expect(gone?.isSilent).toBe(true);
  });

  it('do not know what came of a call that was under way when the owner died', async () => {
    const folder = newFolder();
    const all = await Claimant.all(2, folder);
    for (const one of all) one.send('enter');
    const [owner, [guest]] = await rolesOf(all);
    guest?.send('never');
    await guest?.until('called');
    await owner.kill();
    expect(await guest?.until('refused')).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    await guest?.until('owner');
  });

  it('end when they have nothing else to do', async () => {
    const folder = newFolder();
    const alone = await Claimant.idle(folder);
    await alone.until('owner');
    await alone.exited;
    const owner = await Claimant.start(folder);
    owner.send('enter');
    expect((await owner.entered()).epoch).toBe(2);
    const guest = await Claimant.idle(folder);
    await guest.until('answered');
    await guest.exited;
    expect(await owns(owner)).toBe(true);
  });
});

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
