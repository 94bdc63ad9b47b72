/** Failed tasks by name and by what they failed with: who is told, and for how long. */
import { LIMITS } from '../domain/limits.ts';
import { allPages } from '../domain/port/all-pages.ts';
import type { ErrorGroupFacts, Leased, TaskFilter } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { Case, Cases, Run } from './cases.ts';
import type { Kit, TaskFields } from './kit.ts';

const ERROR = '{"name":"Error","message":"no"}';

function fatal(fingerprint: string): Cause {
  return { type: 'fatal', failure: 'error', fingerprint };
}

function tried(fingerprint: string, made = 1): Cause {
  return { type: 'attempts', failure: 'error', made, of: 9, fingerprint };
}

async function lease(kit: Kit, fields: TaskFields = {}): Promise<Leased> {
  const id = await kit.add(fields);
  await kit.worker('w', { names: ['work', 'other', 'work@2', 'other@2'] });
  const leases = await kit.leaseMany(100);
  const found = leases.find((leased) => leased.id === id);
  if (found === undefined) throw new TypeError(`${id} is leased`);
  return found;
}

/** A task that has failed so; its id. */
async function dead(kit: Kit, fingerprint: string, fields: TaskFields = {}): Promise<string> {
  const leased = await lease(kit, fields);
  await kit.settle(leased, { type: 'dead-letter', cause: fatal(fingerprint), error: ERROR });
  return leased.id;
}

async function groupsOf(kit: Kit, limit = 50): Promise<readonly ErrorGroupFacts[]> {
  const found: ErrorGroupFacts[] = [];
  const pages = allPages(limit, (page) => kit.backend.inspect.errorGroups(page));
  for await (const { items } of pages) found.push(...items);
  return found;
}

/** Each group in a word: its id, failed tasks, attempts. */
async function counts(kit: Kit): Promise<readonly string[]> {
  return (await groupsOf(kit)).map(({ id, failed, attempts }) => `${id} ${failed}/${attempts}`);
}

async function listed(
  kit: Kit,
  filter: Partial<TaskFilter>,
  limit = 50,
): Promise<readonly string[]> {
  const found: string[] = [];
  const whole = { state: 'failed', ...filter } as const;
  const pages = allPages(limit, (page) => kit.backend.inspect.list(whole, page));
  for await (const { items } of pages) found.push(...items.map(({ id }) => id));
  return found;
}

const oneGroup: Run = async (kit, expect) => {
  const first = kit.now();
  const one = await dead(kit, 'aa');
  await kit.advance(1_000);
  const other = await dead(kit, 'bb');
  await kit.advance(1_000);
  const two = await dead(kit, 'aa', { user: 'bob' });
  expect(await groupsOf(kit)).toEqual([
    { id: 'aa', failed: 2, attempts: 2, firstAt: first, lastAt: first + 2_000, sample: two },
    {
      id: 'bb',
      failed: 1,
      attempts: 1,
      firstAt: first + 1_000,
      lastAt: first + 1_000,
      sample: other,
    },
  ]);
  expect(await listed(kit, { error: 'aa' })).toEqual([one, two]);
  expect(await listed(kit, { error: 'aa', user: 'ann' })).toEqual([one]);
  expect(await listed(kit, { error: 'aa', name: 'other' })).toEqual([]);
  expect(await listed(kit, { error: 'cc' })).toEqual([]);
  expect(await listed(kit, { error: 'aa' }, 1)).toEqual([one, two]);
};

const retries: Run = async (kit, expect) => {
  const [first, second] = [await lease(kit), await lease(kit, { user: 'bob' })];
  for (const leased of [first, second]) {
    const retry = { type: 'retry', delayMs: 0, cause: tried('aa'), error: ERROR } as const;
    await kit.settle(leased, retry);
  }
  expect(await counts(kit)).toEqual(['aa 0/2']);
  expect((await groupsOf(kit))[0]?.sample).toBe(second.id);
  expect(await listed(kit, { error: 'aa' })).toEqual([]);
  const [again] = await kit.lease(1);
  if (again === undefined) throw new TypeError('a lease');
  await kit.settle(again, { type: 'dead-letter', cause: tried('aa', 2), error: ERROR });
  await dead(kit, 'zz');
  const later = await lease(kit, { user: 'cem' });
  await kit.settle(later, { type: 'retry', delayMs: 5_000, cause: tried('bb'), error: ERROR });
  expect((await counts(kit)).toSorted()).toEqual(['aa 1/3', 'bb 0/1', 'zz 1/1']);
  // Those with failed tasks go first.
  expect((await counts(kit)).at(-1)).toBe('bb 0/1');
};

const many: Run = async (kit, expect) => {
  await kit.addMany(40);
  const leases = await kit.leaseMany(40);
  const settlements = leases.map(({ id, token }, at) => ({
    id,
    token,
    decision: {
      type: 'retry',
      delayMs: 0,
      cause: tried(at % 3 === 0 ? 'aa' : 'bb', 1 + (at % 2)),
      error: ERROR,
    } as const,
  }));
  await kit.backend.tasks.settle({ worker: 'w', settlements });
  expect((await counts(kit)).toSorted()).toEqual(['aa 0/14', 'bb 0/26']);
};

const leaving: Run = async (kit, expect) => {
  const [one, two, three] = [await dead(kit, 'aa'), await dead(kit, 'aa'), await dead(kit, 'bb')];
  expect(await kit.backend.tasks.redrive(two)).toMatchObject({ kind: 'ok' });
  expect(await counts(kit)).toContain('aa 1/2');
  expect((await groupsOf(kit)).find(({ id }) => id === 'aa')?.sample).toBe(one);
  expect(await kit.backend.tasks.remove(one)).toEqual({ kind: 'ok' });
  expect(await counts(kit)).toEqual(['bb 1/1']);
  expect(await listed(kit, { name: 'work' })).toEqual([three]);
  await kit.finish(await kit.leaseOne());
  expect(await kit.backend.tasks.redrive(three)).toMatchObject({ kind: 'ok' });
  await kit.settle(await kit.leaseOne(), { type: 'dead-letter', cause: fatal('cc'), error: ERROR });
  expect(await counts(kit)).toEqual(['cc 1/1']);
  expect(await listed(kit, { error: 'cc' })).toEqual([three]);
};

const unthrown: Run = async (kit, expect) => {
  const late = await kit.add({ name: 'other@2', delayMs: 1_000, expiresInMs: 5_000 });
  const leased = await lease(kit);
  await kit.settle(leased, {
    type: 'dead-letter',
    cause: { type: 'fatal', failure: 'timeout' },
    error: ERROR,
  });
  await kit.advance(10_000);
  expect(await kit.state(late)).toBe('failed');
  expect((await counts(kit)).toSorted()).toEqual(['expired:other 1/1', 'timeout:work 1/1']);
  expect(await listed(kit, { error: 'expired:other' })).toEqual([late]);
};

const followers: Run = async (kit, expect) => {
  const edges = {
    onFailure: 'fail',
    onCancel: 'fail',
    onMissing: 'refuse',
    allowCrossUser: false,
  } as const;
  const culprit = await lease(kit);
  const follower = await kit.add({ dependsOn: [culprit.id], edges });
  await kit.settle(culprit, { type: 'dead-letter', cause: fatal('aa'), error: ERROR });
  const group = await lease(kit);
  const cause: Cause = { type: 'fatal', failure: 'error', node: 'g', task: culprit.id };
  await kit.settle(group, { type: 'dead-letter', cause, error: ERROR });
  expect(await kit.state(follower)).toBe('failed');
  expect(await counts(kit)).toEqual(['aa 1/1']);
  expect(await listed(kit, { name: 'work' })).toEqual([culprit.id, follower, group.id]);
};

const names: Run = async (kit, expect) => {
  const bare = await dead(kit, 'aa');
  const pinned = await dead(kit, 'aa', { name: 'work@2' });
  const other = await dead(kit, 'bb', { name: 'other' });
  expect(await listed(kit, { name: 'work' })).toEqual([bare, pinned]);
  expect(await listed(kit, { name: 'work@2' })).toEqual([pinned]);
  expect(await listed(kit, { name: 'other' }, 1)).toEqual([other]);
  expect(await listed(kit, { name: 'wor' })).toEqual([]);
  expect(await listed(kit, { name: 'work', user: 'bob' })).toEqual([]);
};

const paging: Run = async (kit, expect) => {
  for (const group of ['a', 'b', 'c', 'd']) await dead(kit, group);
  const leased = await lease(kit);
  await kit.settle(leased, { type: 'retry', delayMs: 5_000, cause: tried('e'), error: ERROR });
  const whole = await groupsOf(kit);
  expect(whole.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
  for (const limit of [1, 2, 3, 4]) expect(await groupsOf(kit, limit)).toEqual(whole);
  const { cursor } = await kit.backend.inspect.errorGroups({ limit: 2 });
  await dead(kit, 'f');
  const next = await kit.backend.inspect.errorGroups({ limit: 9, ...(cursor && { cursor }) });
  expect(next.items.map(({ id }) => id)).toEqual(['c', 'd', 'f', 'e']);
  const foreign = kit.backend.inspect.errorGroups({ limit: 2, cursor: 'x' });
  const refused: unknown = await foreign.catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'INVALID_OPTION' });
};

const retained: Case = {
  retention: { failedMs: 3_600_000, failedCount: 2 },
  run: async (kit, expect) => {
    const ids: string[] = [];
    for (const group of ['a', 'b', 'c']) ids.push(await dead(kit, group));
    await kit.advance(LIMITS.resendMs + 1_000);
    expect((await counts(kit)).toSorted()).toEqual(['b 1/1', 'c 1/1']);
    expect(await listed(kit, { name: 'work' })).toEqual(ids.slice(1));
    await kit.jump(3_700_000);
    expect(await counts(kit)).toEqual([]);
    expect(await listed(kit, { name: 'work' })).toEqual([]);
  },
};

const forgotten: Run = async (kit, expect) => {
  const one = await lease(kit);
  await kit.settle(one, { type: 'retry', delayMs: 1, cause: tried('old'), error: ERROR });
  await kit.jump(LIMITS.errorGroupMs + 1_000);
  await dead(kit, 'new');
  expect(await counts(kit)).toEqual(['new 1/1']);
  for (let at = 0; at < LIMITS.errorGroups + 3; at++) {
    const retry = { type: 'retry', delayMs: 1, cause: tried(`r${at}`), error: ERROR } as const;
    await kit.settle(await lease(kit), retry);
    await kit.advance(1);
    await kit.finish(await kit.leaseOne());
  }
  const ids = (await groupsOf(kit, 500)).map(({ id }) => id);
  expect(ids).toHaveLength(LIMITS.errorGroups + 1);
  expect(ids[0]).toBe('new');
  for (const gone of ['r0', 'r1', 'r2']) expect(ids).not.toContain(gone);
  expect(ids).toContain('r3');
};

/** Failures that are alike, and failed tasks of a name. */
export const failures: Cases = {
  'are one group when they say the same': oneGroup,
  'count attempts that are tried again': retries,
  'count those of one call at once': many,
  'leave with a redrive or a removal, and the group with the last': leaving,
  'are grouped by the way in which they failed when nothing was thrown': unthrown,
  'followed another: then they are in no group': followers,
  'are listed by name, with all versions': names,
  'page, those with failed tasks first': paging,
  'go with their records': retained,
  'of which nothing is kept are forgotten after a day, or when they are many': forgotten,
};
