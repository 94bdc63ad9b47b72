/** Nothing that was answered is lost when the disk stops or fails at any operation. */
import { expect, it } from 'vitest';
import { type Fault, FaultyDisk } from '../../support/file/faulty-disk.ts';
import {
  type Ledger,
  newLedger,
  openSession,
  recover,
  runSession,
  wrongIn,
} from '../../support/file/log-sessions.ts';
import { rounds } from '../../support/rounds.ts';

const POWER_CUTS = rounds(200, 24);

/** Two owners, one after the other; the first has closed. */
async function twoOwners(disk: FaultyDisk, ledger: Ledger): Promise<void> {
  for (const options of [{ epoch: 1, steps: 5 }, { epoch: 2 }]) {
    // What fails to open is opened again.
    await runSession(disk, ledger, options).catch(() => runSession(disk, ledger, options));
  }
}

async function operationsOfTwoOwners(): Promise<readonly string[]> {
  const disk = new FaultyDisk();
  const ledger = newLedger();
  await twoOwners(disk, ledger);
  expect(wrongIn(recover(disk).lines, ledger)).toBeUndefined();
  return disk.operations;
}

/** The next owner finds everything, writes on, and so does the one after another power cut. */
async function goesOn(files: ReadonlyMap<string, Buffer>, ledger: Ledger, seed: number) {
  const own: Ledger = { appended: [...ledger.appended], told: new Set(ledger.told) };
  const disk = new FaultyDisk(files, { seed });
  expect(wrongIn(recover(disk).lines, own)).toBeUndefined();
  // Lines that were not told and are not there will not come back.
  const { lines } = recover(disk);
  own.appended.splice(0, own.appended.length, [...lines]);
  const session = await openSession(disk, own, { epoch: 3 });
  await session.append();
  void session.append(300);
  await session.append();
  disk.crash();
  const after = new FaultyDisk(disk.afterPowerCut(seed + 1));
  expect(wrongIn(recover(after).lines, own)).toBeUndefined();
}

it(`a crash at any operation, with the power or without: what was told is there (${POWER_CUTS} power cuts each)`, async () => {
  const operations = await operationsOfTwoOwners();
  expect(operations.length).toBeGreaterThan(120);
  for (const [index, operation] of operations.entries()) {
    const disk = new FaultyDisk(new Map(), { seed: index });
    disk.failAt(index + 1, 'crash');
    const ledger = newLedger();
    await twoOwners(disk, ledger).catch(() => {});
    await goesOn(disk.afterCrash(), ledger, index);
    for (let seed = 0; seed < POWER_CUTS; seed++) {
      const where = `operation ${index + 1} (${operation}), power cut ${seed}`;
      const files = disk.afterPowerCut(seed);
      expect(wrongIn(recover(new FaultyDisk(files)).lines, ledger), where).toBeUndefined();
      if (seed % 8 === 2) await goesOn(files, ledger, seed);
    }
  }
});

for (const fault of ['EIO', 'ENOSPC', 'short'] satisfies readonly Fault[]) {
  it(`${fault} at any operation: what was told is there, and who opens anew goes on`, async () => {
    const operations = await operationsOfTwoOwners();
    for (const [index, operation] of operations.entries()) {
      const disk = new FaultyDisk(new Map(), { seed: index });
      disk.failAt(index + 1, fault);
      const ledger = newLedger();
      await twoOwners(disk, ledger);
      disk.heal();
      const where = `operation ${index + 1} (${operation})`;
      expect(wrongIn(recover(disk).lines, ledger), where).toBeUndefined();
      for (let seed = 0; seed < 8; seed++) {
        const { lines } = recover(new FaultyDisk(disk.afterPowerCut(seed)));
        expect(wrongIn(lines, ledger), `${where}, power cut ${seed}`).toBeUndefined();
      }
      await goesOn(disk.afterPowerCut(index), ledger, index);
    }
  });
}

it('EIO of a sync: no caller is answered, nothing more is written, and the next to open finds what was told', async () => {
  const { operations } = await (async () => {
    const disk = new FaultyDisk();
    const session = await openSession(disk, newLedger(), { epoch: 1 });
    for (let i = 0; i < 10; i++) await session.append();
    return disk;
  })();
  const syncs = operations.flatMap((name, index) => (name.startsWith('sync') ? [index + 1] : []));
  expect(syncs.length).toBeGreaterThan(10);
  for (const at of syncs.slice(2)) {
    const disk = new FaultyDisk();
    const ledger = newLedger();
    disk.failAt(at, 'EIO');
    const session = await openSession(disk, ledger, { epoch: 1 });
    const answers: boolean[] = [];
    for (let i = 0; i < 10; i++) answers.push(await session.append());
    const failed = answers.indexOf(false);
    expect(answers.slice(failed)).not.toContain(true);
    expect(failed).toBe(ledger.told.size);
    expect(session.log.isBroken).toBe(true);
    const { length } = disk.operations;
    await session.append();
    await expect(session.log.seal()).rejects.toThrow('the log cannot be written');
    expect(disk.operations.length).toBe(length);
    await session.log.close();
    expect(wrongIn(recover(disk).lines, ledger)).toBeUndefined();
  }
});

it(`an owner that follows one that could not begin: what was told is there after any power cut (${POWER_CUTS} power cuts each)`, async () => {
  const before = new FaultyDisk();
  const ledger = newLedger();
  const first = await openSession(before, ledger, { epoch: 1 });
  await first.appendMany(3);
  // A commit of many sectors, in a segment of its own: the next owner writes it anew.
  await first.append(1_500);
  const files = before.afterCrash();
  const copy = (): Ledger => ({ appended: [...ledger.appended], told: new Set(ledger.told) });
  const opening = new FaultyDisk(files);
  await openSession(opening, copy(), { epoch: 2 });
  for (const [index, operation] of opening.operations.entries()) {
    if (!/^(?:write|sync)/.test(operation)) continue;
    for (let crashing = 1; ; crashing++) {
      const disk = new FaultyDisk(files, { seed: index });
      const own = copy();
      disk.failAt(index + 1, 'EIO');
      await expect(openSession(disk, own, { epoch: 2 })).rejects.toThrow('EIO');
      disk.heal();
      const last = disk.operations.length + crashing;
      disk.failAt(last, 'crash');
      const next = await openSession(disk, own, { epoch: 3 }).catch(() => undefined);
      await next?.append();
      for (let seed = 0; seed < POWER_CUTS; seed++) {
        const where = `${operation}, then operation ${crashing}, power cut ${seed}`;
        const left = new FaultyDisk(disk.afterPowerCut(seed));
        expect(wrongIn(recover(left).lines, own), where).toBeUndefined();
      }
      if (disk.operations.length < last) break;
    }
  }
});

it('EIO of a sync: those who wait for the next commit hear so, too, and so does who comes later', async () => {
  const disk = new FaultyDisk();
  const { log } = await openSession(disk, newLedger(), { epoch: 1 });
  const heard: string[] = [];
  const append = (line: string): void => {
    log.append(line).then(
      () => heard.push(`${line} is there`),
      () => heard.push(line),
    );
  };
  append('first');
  append('second');
  while (!disk.operations.at(-1)?.startsWith('write')) await turnOfLoop();
  expect(log.pending).toBeDefined();
  append('third');
  disk.failAt(disk.operations.length + 1, 'EIO');
  for (let turns = 0; turns < 10; turns++) await turnOfLoop();
  append('fourth');
  await turnOfLoop();
  expect(heard).toEqual(['first', 'second', 'third', 'fourth']);
  expect(log.pending).toBeUndefined();
  await log.close();
});

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
