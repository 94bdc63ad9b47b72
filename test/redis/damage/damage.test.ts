/** Keys that are deleted, cut short, overwritten or of a wrong type: no task is stuck, and all is made anew. */
import { expect, it } from 'vitest';
import { rounds } from '../../support/rounds.ts';
import { DamagedStore } from './kit.ts';
import { familyOf, mutate, rngOf } from './mutations.ts';

const SEED = Number(process.env['FAIRLOOM_SEED'] ?? 20_261_128);
const ROUNDS = Number(process.env['FAIRLOOM_DAMAGE'] ?? 12);

/** Records: what is deleted of these is gone. */
const TRUTH = /^(tasks|facts|ends|payloads|results)$/;

// F64
it('every family of keys, and half of some, is made anew from what it indexes', async () => {
  const store = await DamagedStore.make();
  const families = [...new Set((await store.keys()).map((key) => familyOf(store.prefix, key)))];
  const wrong: string[] = [];
  for (const [at, family] of families.entries()) {
    for (const part of at % rounds(1, 3) === 0 ? ['all', 'half'] : ['all']) {
      await store.restore();
      const keys = (await store.keys()).filter((key) => familyOf(store.prefix, key) === family);
      const rng = rngOf(SEED);
      if (part === 'all') await store.raw.del([...keys]);
      else for (const key of keys) await mutate(store, key, 'cut', rng);
      wrong.push(...(await judge(store, `${family}, ${part}`, TRUTH.test(family))));
    }
  }
  process.stdout.write(`${families.length} families, seed ${SEED}\n`);
  expect(wrong).toEqual([]);
});

// F63
it('random damage stops no task, and repair brings all that is stored to its end', async () => {
  const store = await DamagedStore.make();
  const rng = rngOf(SEED);
  const wrong: string[] = [];
  const kinds = ['delete', 'cut', 'type', 'bytes'] as const;
  for (let round = 0; round < ROUNDS; round++) {
    await store.restore();
    const keys = await store.keys();
    const key = keys[rng(keys.length)] ?? '';
    const kind = kinds[rng(kinds.length)] ?? 'cut';
    await mutate(store, key, kind, rng);
    const family = familyOf(store.prefix, key);
    const name = `${round}: ${kind} of ${key.slice(store.prefix.length + 1)}`;
    wrong.push(...(await judge(store, name, TRUTH.test(family))));
  }
  process.stdout.write(`${ROUNDS} mutations, seed ${SEED}\n`);
  expect(wrong).toEqual([]);
});

// F63
it('a record that cannot be read is named, set aside, listed, and thrown away when asked', async () => {
  const store = await DamagedStore.make();
  const { kit, raw, prefix } = store;
  const text = (await raw.hgetBuffer(`${prefix}:tasks`, 'line-1')) ?? Buffer.alloc(0);
  await raw.hset(`${prefix}:tasks`, 'line-1', text.subarray(0, 10));
  const looked = await kit.backend.inspect.reconcile({ repair: false });
  expect(looked.drift).toContain('task line-1: its text cannot be read');
  expect(await raw.hstrlen(`${prefix}:tasks`, 'line-1')).toBe(10);
  await store.serveQuietUser();
  const found = await kit.backend.inspect.get(['line-1']).catch((error: unknown) => error);
  expect(found).toMatchObject({
    code: 'CORRUPT_RECORD',
    retryable: false,
    record: 'task line-1',
    message: 'task line-1: its text cannot be read (fairloom doctor tells more)',
  });
  const repaired = await store.repair();
  expect(repaired.drift).toContain('task line-1: set aside, its text cannot be read');
  expect(await kit.state('line-1')).toBe('missing');
  expect((await store.repair()).drift).toEqual([]);
});

// F63
it('a key of a wrong type answers CORRUPT_RECORD, which no wait heals', async () => {
  const { raw, prefix, kit } = await DamagedStore.make();
  await raw.del(`${prefix}:damaged`);
  await raw.set(`${prefix}:damaged`, 'x');
  const answer = await kit.backend.inspect.get(['nobody']).catch((error: unknown) => error);
  expect(answer).toMatchObject({ code: 'CORRUPT_RECORD', retryable: false });
  await raw.del(`${prefix}:damaged`);
});

/** What is not as promised. */
async function judge(
  store: DamagedStore,
  name: string,
  destroys: boolean,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const tell = (what: string) => (error: unknown) => {
    wrong.push(`${name}: ${what}: ${error instanceof Error ? error.message : String(error)}`);
  };
  await store.serveQuietUser().catch(tell('quiet user'));
  await store.repair().catch(tell('repair'));
  const again = await store.repair().catch(tell('second repair'));
  if (again !== undefined && again.drift.length > 0)
    wrong.push(`${name}: drift stays: ${again.drift.join('; ')}`);
  await store.drain().catch(tell('drain'));
  const unended = await store.unended().catch(() => []);
  if (unended.length > 0) wrong.push(`${name}: not ended: ${unended.join(', ')}`);
  const missing = await store.missing().catch(() => []);
  if (missing.length > 0 && !destroys) wrong.push(`${name}: lost: ${missing.join(', ')}`);
  await store.serveQuietUser().catch(tell('quiet user after repair'));
  return wrong;
}
