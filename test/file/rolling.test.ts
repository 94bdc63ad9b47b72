import { afterAll, afterEach, expect, it } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import { RETENTION } from '../model/harness.ts';
import { rounds } from '../support/rounds.ts';
import { newFolder, removeFolders } from './socket/kit.ts';
import { Claimant, endProcesses, removeProgram } from './socket/processes.ts';

afterEach(() => {
  endProcesses();
  removeFolders();
});
afterAll(removeProgram);

it('an app whose processes are restarted in turn, the owner first, has no call refused and no warning', async () => {
  const folder = newFolder();
  const members: Claimant[] = [];
  for (let at = 0; at < 3; at++) members.push(await Claimant.member(folder, `m${at}`));
  let [called, worked] = [0, 0];
  const leave = async (member: Claimant | undefined): Promise<void> => {
    member?.send('leave');
    const left = await member?.until('left');
    await member?.exited;
    expect(member?.said.filter(({ event }) => event === 'complained')).toEqual([]);
    called += left?.called ?? 0;
    worked += left?.worked ?? 0;
  };
  for (let round = 0; round < rounds(40, 5); round++) {
    // The one that came first is the owner.
    await leave(members.shift());
    members.push(await Claimant.member(folder, `m${3 + round}`));
  }
  await Promise.all(members.map(leave));
  expect(called).toBeGreaterThan(members.length * 100);
  // Each task ran once: none was given to a second process by the change of owners.
  expect(worked).toBe(called);
  const last = file(folder);
  await last.open({ retention: RETENTION });
  expect((await last.inspect.stats()).counts).toMatchObject({ queued: 0, started: 0 });
  await last.close();
});
