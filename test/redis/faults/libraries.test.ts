/** Libraries of functions on a server: that of this version, those of others, and what doctor says of them. */
import { expect, it } from 'vitest';
import { SCRIPTS } from '../../../src/backends/redis/wire/scripts.ts';
import { diagnose } from '../../../src/cli/views/checks.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { adminOf, atEnd, backendOn, freshPrefix, kitOn, ownServer } from './kit.ts';

const OTHER = 'fairloom_0123456789ab';
const FOREIGN = 'of_another_product';

/** A server that knows this version's library, one of another version, and one that is not ours. */
async function setUp() {
  const server = await ownServer();
  const admin = adminOf(server.url);
  for (const name of [OTHER, FOREIGN]) {
    const body = `redis.register_function('${name}_lag', function() return 1 end)`;
    await admin.function('LOAD', `#!lua name=${name}\n${body}`);
  }
  const prefix = freshPrefix();
  const kit = await kitOn(server.url, prefix);
  await kit.backend.tasks.tick();
  const names = async (): Promise<readonly string[]> => {
    const told = (await admin.function('LIST')) as readonly (readonly string[])[];
    return told.map((one) => String(one[1])).sort();
  };
  return { server, admin, kit, prefix, names, ours: SCRIPTS.library.name };
}

it('several versions share a server, and repair leaves its own', async () => {
  const { kit, names, ours } = await setUp();
  expect(await names()).toEqual([FOREIGN, OTHER, ours].sort());
  const looked = await kit.backend.inspect.reconcile({ repair: false });
  expect(looked.otherLibraries).toEqual([OTHER]);
  expect(await names()).toContain(OTHER);
  const repaired = await kit.backend.inspect.reconcile({ repair: true });
  expect(repaired.otherLibraries).toEqual([OTHER]);
  expect(await names()).toEqual([FOREIGN, ours].sort());
  expect(await kit.backend.inspect.reconcile({ repair: true })).not.toHaveProperty(
    'otherLibraries',
  );
});

it('doctor says so, and finds no fault in it', async () => {
  const { server, prefix } = await setUp();
  const loom = new Fairloom({ backend: backendOn(server.url, prefix), log: silentLogger });
  atEnd(() => loom.close());
  const found = async (repair: boolean) =>
    (await diagnose(loom, repair)).checks.filter(({ check }) => check === 'libraries');
  const what = `libraries of functions of other versions: ${OTHER}`;
  expect(await found(false)).toEqual([
    {
      check: 'libraries',
      verdict: 'ok',
      text: `the server keeps ${what}`,
      hint: 'fairloom doctor --repair removes them',
    },
  ]);
  expect(await found(true)).toEqual([
    { check: 'libraries', verdict: 'ok', text: `removed ${what}` },
  ]);
  expect(await found(false)).toEqual([]);
});

it('a process whose library is removed goes on, and so after a restart that kept nothing', async () => {
  const { server, admin, kit, names, ours } = await setUp();
  await admin.function('DELETE', ours);
  expect(await kit.backend.tasks.tick()).toMatchObject({ more: false });
  expect(await names()).toContain(ours);
  await server.restart();
  expect(await names()).not.toContain(ours);
  await expect.poll(() => kit.backend.tasks.tick().then(() => 'ticked', String)).toBe('ticked');
  expect(await names()).toContain(ours);
});

it('many calls at once teach a server once each, and all are answered', async () => {
  const { server, admin, kit, ours } = await setUp();
  await admin.function('FLUSH');
  const other = await kitOn(server.url);
  const calls = [kit, other].flatMap(({ backend }) =>
    Array.from({ length: 20 }, () => backend.tasks.tick()),
  );
  expect(await Promise.all(calls)).toHaveLength(40);
  expect(await admin.function('LIST', 'LIBRARYNAME', ours)).toHaveLength(1);
});
