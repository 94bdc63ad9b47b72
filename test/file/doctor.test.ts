/** What the doctor reports of a data folder whose files were changed, and what a repair leaves. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type DataReport, examineData } from '../../src/backends/file/examine.ts';
import { file } from '../../src/backends/file/file-backend.ts';
import { openLog } from '../../src/backends/file/log/command-log.ts';
import { diskIn } from '../../src/backends/file/log/disk.ts';
import { findData } from '../../src/backends/file/log/recovery.ts';
import { RESERVE } from '../../src/backends/file/log/reserve.ts';
import { LAW } from '../../src/backends/file/log/segment.ts';
import { repairData } from '../../src/backends/file/repair.ts';
import { markIncomplete } from '../../src/backends/file/replay/incomplete.ts';
import { readData } from '../../src/backends/file/replay/read-data.ts';
import { writeSnapshot } from '../../src/backends/file/state/snapshot-file.ts';
import { writeState } from '../../src/backends/file/state/state-writer.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { fairloomHere } from '../support/cli-here.ts';

const say = task('say', async (words: string) => words);

const roots: string[] = [];
const looms: Fairloom[] = [];
const clock = new ManualClock();
const ASIDE = 'damaged-today';

afterEach(async () => {
  for (const loom of looms.splice(0)) await loom.close({ timeout: 0 });
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function newFolder(): string {
  const root = mkdtempSync(join(tmpdir(), 'fairloom-doctor-'));
  roots.push(root);
  return root;
}

function loomOn(folder: string): Fairloom {
  const loom = new Fairloom({ backend: file(folder), tasks: [say], log: silentLogger });
  looms.push(loom);
  return loom;
}

async function closed(loom: Fairloom): Promise<void> {
  looms.splice(looms.indexOf(loom), 1);
  await loom.close();
}

/** Lines of commits that each store one task, from a history in memory. */
async function linesOf(count: number): Promise<readonly string[]> {
  const folder = newFolder();
  const loom = loomOn(folder);
  for (let at = 1; at <= count; at++) await loom.enqueue(say, 'x', { id: `t-${at}`, user: 'ann' });
  const lines = [...findData(diskIn(folder)).linesAfter(0)];
  await closed(loom);
  return lines;
}

/** Tasks of a folder. */
const TASKS = 24;

/**
 * A folder as a killed process leaves it: a commit for each step, in short segments, and snapshots after the commits of
 * these numbers.
 */
async function killedFolder(snapshots: readonly number[] = [], law = LAW): Promise<string> {
  const lines = await linesOf(TASKS);
  const folder = newFolder();
  const disk = diskIn(folder);
  const log = await openLog(disk, {
    ...{ found: findData(disk), epoch: 1, stillOwns: () => true, sync: 'always', clock },
    ...{ segmentBytes: 2_048, law },
  });
  for (const line of lines) await log.append(line);
  for (const number of snapshots) {
    const { engine } = await readData(disk, clock, { upTo: number });
    await writeSnapshot(disk, { number, chunks: writeState(engine.store) });
  }
  await log.close();
  return folder;
}

function flip(folder: string, name: string, at: number): void {
  const bytes = readFileSync(join(folder, name));
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(join(folder, name), bytes);
}

async function examined(folder: string, aside?: string): Promise<DataReport> {
  const report = await examineData(folder, { clock, aside });
  if (report === undefined) throw new Error('there is no folder');
  return report;
}

/** What is stored, once the owner that opens it has looked at everything. */
async function storedIn(folder: string): Promise<readonly string[]> {
  const loom = loomOn(folder);
  const { drift } = await loom.reconcile();
  expect(drift).toEqual([]);
  const { items } = await loom.tasks.list({ state: 'queued', user: 'ann', limit: 100 });
  await closed(loom);
  return items.map(({ id }) => id);
}

function filesIn(folder: string): ReadonlyMap<string, Buffer> {
  const names = readdirSync(folder).filter((name) => /^(?:log|state)-/.test(name));
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(folder, name))]));
}

function segmentAt(folder: string, index: number): ReturnType<typeof findData>['segments'][number] {
  const segment = findData(diskIn(folder)).segments.at(index);
  if (segment === undefined) throw new Error('there is no such segment');
  return segment;
}

/** Repairs, and holds that what was there is kept aside, and that there is no more to repair. */
async function repaired(folder: string): Promise<DataReport> {
  const before = filesIn(folder);
  const report = await examined(folder, ASIDE);
  expect(report.repair?.aside).toBe(join(folder, ASIDE));
  expect(filesIn(join(folder, ASIDE))).toEqual(before);
  expect(report.damage).toEqual([]);
  expect(report.snapshots.map(({ number, problem }) => [number, problem])).toEqual([
    [report.commits, undefined],
  ]);
  const after = filesIn(folder);
  const again = await examined(folder, ASIDE);
  expect(again.repair).toBeUndefined();
  expect(filesIn(folder)).toEqual(after);
  expect(readdirSync(folder).filter((name) => name.startsWith('damaged'))).toEqual([ASIDE]);
  return report;
}

describe('commits that are gone', () => {
  it('bytes in the middle that were changed: where, how many, and everything else is kept', async () => {
    const folder = await killedFolder();
    const all = await readData(diskIn(folder), clock);
    const { name, first, end } = segmentAt(folder, 1);
    const whole = await examined(folder);
    expect(whole).toMatchObject({ damage: [], snapshots: [], isOpen: false, epoch: 1 });
    expect(whole.segments).toBeGreaterThan(3);
    expect(whole.commits).toBe(all.found.nextNumber - 1);

    flip(folder, name, 60);
    const before = filesIn(folder);
    const { damage } = await examined(folder);
    expect(damage).toEqual([
      {
        ...{ file: name, from: 32, to: expect.any(Number), first, lost: 1 },
        text: expect.stringMatching(/bytes 32 to \d+: 1 commit is gone$/),
      },
    ]);
    expect(damage[0]?.to).toBeLessThan(end);
    expect(filesIn(folder)).toEqual(before);
    await expect(storedIn(folder)).rejects.toMatchObject({ code: 'DATA_DAMAGED' });

    const { repair } = await repaired(folder);
    expect(repair?.damage).toEqual(damage);
    expect(await storedIn(folder)).toHaveLength(TASKS - 1);
  });

  it('a segment that was removed', async () => {
    const folder = await killedFolder();
    const [{ name, first, last }, following] = [segmentAt(folder, 1), segmentAt(folder, 2)];
    rmSync(join(folder, name));
    const { damage } = await examined(folder);
    const lost = last - first + 1;
    expect(damage).toMatchObject([{ file: following.name, from: 0, to: 0, first, lost }]);
    await repaired(folder);
    expect(await storedIn(folder)).toHaveLength(TASKS - lost);
  });

  it('only what no snapshot has is lost', async () => {
    const folder = await killedFolder([segmentAtLast(1)]);
    rmSync(join(folder, segmentAt(folder, 0).name));
    const report = await examined(folder, ASIDE);
    expect(report).toMatchObject({ damage: [] });
    expect(report.repair).toBeUndefined();
    expect(await storedIn(folder)).toHaveLength(TASKS);
  });
});

/** Number of a commit after which snapshots are made here. */
function segmentAtLast(part: 1 | 2): number {
  return (TASKS / 3) * part;
}

describe('snapshots that cannot be read', () => {
  const [older, newer] = [segmentAtLast(1), segmentAtLast(2)];
  const nameOf = (number: number): string => `state-${String(number).padStart(12, '0')}`;

  it('the newest alone: nothing is lost, and there is nothing to repair', async () => {
    const folder = await killedFolder([older, newer]);
    flip(folder, nameOf(newer), 40);
    const before = filesIn(folder);
    const report = await examined(folder, ASIDE);
    expect(report.damage).toEqual([]);
    expect(report.repair).toBeUndefined();
    expect(report.snapshots).toMatchObject([
      { number: newer, problem: expect.stringContaining(nameOf(newer)) },
      { number: older },
    ]);
    expect(filesIn(folder)).toEqual(before);
    expect(await storedIn(folder)).toHaveLength(TASKS);
  });

  it('both, with the whole log: nothing is lost, and a repair makes a new one', async () => {
    const folder = await killedFolder([older, newer]);
    for (const number of [older, newer]) flip(folder, nameOf(number), 40);
    expect(await examined(folder)).toMatchObject({ damage: [] });
    const { repair } = await repaired(folder);
    expect(repair?.damage).toEqual([]);
    expect(await storedIn(folder)).toHaveLength(TASKS);
  });

  it('both, without what was before them: what came after is kept', async () => {
    const folder = await killedFolder([older, newer]);
    for (const number of [older, newer]) flip(folder, nameOf(number), 40);
    const { name, last, first } = segmentAt(folder, 0);
    rmSync(join(folder, name));
    const lost = last - first + 1;
    expect((await examined(folder)).damage).toMatchObject([{ first: 1, lost }]);
    await expect(storedIn(folder)).rejects.toMatchObject({ code: 'DATA_DAMAGED' });
    await repaired(folder);
    const stored = await storedIn(folder);
    expect(stored.length).toBeGreaterThanOrEqual(TASKS - lost);
    expect(stored.length).toBeLessThan(TASKS);
    expect(stored).toContain(`t-${TASKS}`);
  });

  it('both, and no log at all: the folder does not open as an empty one', async () => {
    const folder = await killedFolder([older, newer]);
    for (const name of filesIn(folder).keys()) {
      if (name.startsWith('log-')) rmSync(join(folder, name));
      else flip(folder, name, 40);
    }
    const [damage, ...more] = (await examined(folder)).damage;
    expect(damage).toMatchObject({ file: nameOf(newer), first: 1, lost: newer });
    expect(more).toEqual([]);
    await expect(storedIn(folder)).rejects.toMatchObject({ code: 'DATA_DAMAGED' });
    await repaired(folder);
    expect(await storedIn(folder)).toEqual([]);
  });

  it('that of a copy, which no log makes up for', async () => {
    const folder = await killedFolder();
    const disk = diskIn(folder);
    const { engine } = await readData(disk, clock, { upTo: 3 });
    await writeSnapshot(disk, { number: 0, chunks: writeState(engine.store) });
    expect(await examined(folder)).toMatchObject({ damage: [], snapshots: [{ number: 0 }] });
    flip(folder, nameOf(0), 40);
    expect((await examined(folder)).damage).toMatchObject([
      { file: nameOf(0), first: 0, text: `${nameOf(0)}: what was copied into the folder is gone` },
    ]);
    await expect(storedIn(folder)).rejects.toMatchObject({ code: 'DATA_DAMAGED' });
    const { repair } = await repaired(folder);
    expect(repair?.damage[0]).not.toHaveProperty('lost');
    expect(await storedIn(folder)).toHaveLength(TASKS);
  });
});

it('a commit that was broken off is said, and is no damage', async () => {
  const folder = await killedFolder();
  const { name, end } = segmentAt(folder, -1);
  const bytes = readFileSync(join(folder, name));
  writeFileSync(join(folder, name), Buffer.concat([bytes.subarray(0, end), Buffer.from('half')]));
  const report = await examined(folder, ASIDE);
  expect(report).toMatchObject({ damage: [], brokenOff: { file: name, from: end, to: end + 4 } });
  expect(report.repair).toBeUndefined();
});

it('a folder that a process has open is looked at, and nothing else', async () => {
  const folder = newFolder();
  const loom = loomOn(folder);
  await loom.enqueue(say, 'x', { id: 'one', user: 'ann' });
  const report = await examined(folder, ASIDE);
  expect(report).toMatchObject({ isOpen: true, damage: [], epoch: 1 });
  expect(report.repair).toBeUndefined();
  await loom.enqueue(say, 'x', { id: 'two', user: 'ann' });
  await closed(loom);
  expect(await storedIn(folder)).toEqual(['one', 'two']);
});

it('there is no folder: none is made', async () => {
  const folder = join(newFolder(), 'none');
  expect(await examineData(folder, { clock })).toBeUndefined();
  const ended = await fairloomHere(['doctor', '--data', folder]);
  expect(ended).toMatchObject({ code: 7, stderr: expect.stringContaining(`no folder ${folder}`) });
  expect(readdirSync(join(folder, '..'))).toEqual([]);
});

it('a folder without data stays one', async () => {
  const folder = newFolder();
  const ended = await fairloomHere(['doctor', '--data', folder, '--repair']);
  expect(ended).toMatchObject({ code: 0, stdout: `warning  ${folder} has no data\n` });
  expect(readdirSync(folder)).toEqual([]);
});

describe('a repair', () => {
  async function damagedFolder(law = LAW): Promise<string> {
    const folder = await killedFolder([], law);
    flip(folder, segmentAt(folder, 1).name, 60);
    return folder;
  }

  it('of an owner that is none any more changes nothing, or can be done again', async () => {
    const folder = await damagedFolder();
    const before = filesIn(folder);
    for (const answers of [[], [true]]) {
      const owner = { stillOwns: () => answers.shift() ?? false };
      const disk = diskIn(folder);
      const found = findData(disk);
      const repair = repairData(disk, { clock, owner, aside: ASIDE, found });
      await expect(repair).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
      expect([...filesIn(folder)]).toEqual(expect.arrayContaining([...before]));
    }
    expect(filesIn(join(folder, ASIDE))).toEqual(before);
    const report = await examined(folder, ASIDE);
    expect(report.damage).toEqual([]);
    expect(await storedIn(folder)).toHaveLength(TASKS - 1);
  });

  it('of a copy that is not complete is none: that is to be made anew', async () => {
    const folder = await damagedFolder();
    await markIncomplete(diskIn(folder));
    const before = filesIn(folder);
    const report = await examined(folder, ASIDE);
    expect(report).toMatchObject({ isIncomplete: true, damage: [{ lost: 1 }] });
    expect(report.repair).toBeUndefined();
    expect(filesIn(folder)).toEqual(before);
  });

  it('keeps nothing of what another version decided, and changes nothing then', async () => {
    const folder = await damagedFolder(7);
    const before = filesIn(folder);
    const report = await examined(folder, ASIDE);
    expect(report).toMatchObject({
      refusal: { kind: 'unusable', text: expect.stringContaining('another version of Fairloom') },
    });
    expect(report.repair).toBeUndefined();
    expect(filesIn(folder)).toEqual(before);
    expect(readdirSync(folder).filter((name) => name !== RESERVE)).toEqual([...before.keys()]);
  });

  it('of a log that ends before the newest snapshot, which cannot be read, keeps that aside', async () => {
    const folder = await killedFolder([segmentAtLast(1), segmentAtLast(2)]);
    flip(folder, `state-${String(segmentAtLast(2)).padStart(12, '0')}`, 40);
    const { segments } = findData(diskIn(folder));
    const gone = segments.filter(({ last }) => last >= segmentAtLast(2));
    for (const { name } of gone) rmSync(join(folder, name));
    const [damage] = (await examined(folder)).damage;
    expect(damage).toMatchObject({ first: gone[0]?.first });
    expect(damage).not.toHaveProperty('lost');
    expect((await repaired(folder)).commits).toBe(segmentAtLast(2));
    expect((await storedIn(folder)).length).toBeGreaterThanOrEqual(segmentAtLast(1) - 1);
  });
});

describe('the command', () => {
  it('says what is wrong with the files alone when the folder cannot be opened', async () => {
    const folder = await killedFolder();
    const { name } = segmentAt(folder, 1);
    flip(folder, name, 60);
    const where = ['doctor', '--data', folder];
    const ill = await fairloomHere(where);
    expect(ill.code).toBe(3);
    expect(ill.stdout).toMatch(
      /^failed {2}log-00000001-00000002, bytes 32 to \d+: 1 commit is gone/m,
    );
    expect(ill.stdout).toContain(`fairloom doctor --data ${folder} --repair`);
    expect(ill.stdout).not.toContain('indexes agree');

    const repairing = await fairloomHere([...where, '--repair', '-o', 'json']);
    const { checks, data, checked } = JSON.parse(repairing.stdout);
    expect(checks).toContainEqual({
      check: 'repair',
      verdict: 'warning',
      text: expect.stringMatching(
        /^repaired: log-.*: 1 commit is gone\. .*damaged-\d{4}-\d\d-\d\dT/,
      ),
    });
    expect(data).toMatchObject({ damage: [], repair: { damage: [{ file: name, lost: 1 }] } });
    expect(checked).toBe(TASKS - 1);

    const well = await fairloomHere(where);
    expect(well.stdout).toMatch(/^ok {2}every commit is there/m);
    expect(well.stdout).toContain('records and their indexes agree');
  });

  it('prints nothing of the name of a folder that a terminal obeys', async () => {
    const folder = `${await killedFolder()}/\u001b[31mred`;
    mkdirSync(folder);
    await markIncomplete(diskIn(folder));
    for (const form of ['table', 'json']) {
      const { stdout } = await fairloomHere(['doctor', '--data', folder, '-o', form]);
      expect(stdout).toContain('[31mred');
      expect(stdout).not.toContain('\u001b');
    }
  });

  it('says that a copy is not complete', async () => {
    const folder = newFolder();
    await markIncomplete(diskIn(folder));
    const ended = await fairloomHere(['doctor', '--data', folder, '--repair']);
    expect(ended.code).toBe(3);
    expect(ended.stdout).toMatch(/^failed {2}a copy .* is not complete/m);
    expect(ended.stdout).toContain('fairloom copy');
  });

  it('warns of a snapshot that cannot be read', async () => {
    const [older, newer] = [segmentAtLast(1), segmentAtLast(2)];
    const folder = await killedFolder([older, newer]);
    flip(folder, `state-${String(newer).padStart(12, '0')}`, 40);
    const { stdout } = await fairloomHere(['doctor', '--data', folder]);
    expect(stdout).toMatch(/^warning {2}.*state-0+16.*\n.*two newer/m);
    expect(stdout).toMatch(/^ok {2}every commit is there/m);
  });
});
