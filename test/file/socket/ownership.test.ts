import { readdirSync, statSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { guestOf, newFolder, ownerOf, removeFolders, servedMemory } from './kit.ts';

afterEach(removeFolders);

describe('the owner of a folder', () => {
  it('is the first who claims it; who comes later asks it', async () => {
    const folder = newFolder();
    const owner = await servedMemory(folder);
    expect(owner.epoch).toBe(1);
    expect(owner.stillOwns()).toBe(true);
    expect(readdirSync(folder)).toEqual(['owner-00000001']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(`${folder}/owner-00000001`).mode & 0o777).toBe(0o600);
    const guest = await guestOf(folder);
    expect(guest.epoch).toBe(1);
    expect(await guest.carry('inspect.ping', [])).toBe(0);
    await guest.close();
    await guest.gone;
    await owner.release();
    expect(readdirSync(folder)).toEqual([]);
    expect(owner.stillOwns()).toBe(false);
  });

  it('is somebody else once it has let go', async () => {
    const folder = newFolder();
    const first = await servedMemory(folder);
    const guest = await guestOf(folder);
    await first.release();
    await guest.gone;
    expect(guest.isSilent).toBe(false);
    const second = await ownerOf(folder);
    expect(second.stillOwns()).toBe(true);
    await second.release();
  });
});
