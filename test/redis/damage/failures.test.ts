/** Indexes of failures that are lost, or name who did not fail so: they are made anew from the records. */
import { expect, it } from 'vitest';
import { DamagedStore } from './kit.ts';

/** The groups, each with its failed tasks, and what failed by name. */
async function known(store: DamagedStore): Promise<readonly string[]> {
  const { inspect } = store.kit.backend;
  const groups = (await inspect.errorGroups({ limit: 50 })).items;
  const of = async (filter: {
    readonly error?: string;
    readonly name?: string;
  }): Promise<string> => {
    const { items } = await inspect.list({ state: 'failed', ...filter }, { limit: 50 });
    return items.map(({ id }) => id).join(' ');
  };
  const rows = groups.map(async ({ id, failed }) => `${id} ${failed}: ${await of({ error: id })}`);
  return [...(await Promise.all(rows)), `work: ${await of({ name: 'work' })}`];
}

const WHOLE = ['error:work 1: dead', 'work: dead'];

/** What is done to the store, and what a look says of it. */
const DAMAGE: Readonly<
  Record<string, readonly [command: string, key: string, ...args: readonly string[]]>
> = {
  'dead: failed, but in no index of failures': ['del', 'failed-of:error:work'],
  'dead: failed, but in no index of failures (by name)': ['del', 'failed-named:work'],
  'failed-of error:work holds one that did not fail so': [
    'zadd',
    'failed-of:error:work',
    '1',
    'done',
  ],
  'failed-of error:work is in no listing': ['del', 'error-groups:failed'],
  'failed-named work holds one that did not fail so': ['zadd', 'failed-named:work', '1', 'gone'],
  'error-groups failed has one of which nothing is known': [
    'zadd',
    'error-groups:failed',
    '1',
    'x',
  ],
  'error-group none is in no listing': ['hset', 'error-group:none', 'a', '2'],
};

// F64
it('indexes of failures are made anew', async () => {
  const store = await DamagedStore.make();
  const { inspect } = store.kit.backend;
  expect(await known(store)).toEqual(expect.arrayContaining(WHOLE));
  for (const [drift, [command, key, ...args]] of Object.entries(DAMAGE)) {
    await store.restore();
    await store.raw.call(command, `${store.prefix}:${key}`, ...args);
    const looked = await inspect.reconcile({ repair: false });
    expect(looked.drift).toContain(drift.replace(' (by name)', ''));
    await store.repair();
    expect([drift, (await store.repair()).drift]).toEqual([drift, []]);
    expect(await known(store)).toEqual(expect.arrayContaining(WHOLE));
  }
});
