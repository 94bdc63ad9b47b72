/** Several clients on one backend. */
import { expect, it } from 'vitest';
import { Fairloom } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import type { FairloomOptions } from '../../../src/core/options.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { everyBackend } from '../../support/backends.ts';

const echo = task('echo', async (n: number) => n);

/** What stands between a client and its backend. */
const OPTIONS: Readonly<Record<string, Partial<FairloomOptions>>> = {
  'as it is': {},
  encrypted: { codec: encrypted({ keys: [{ id: 'k', key: Buffer.alloc(32, 1) }] }) },
};

everyBackend((open) => {
  // F98
  it.each(Object.keys(OPTIONS))(
    'a backend that two clients share is closed by the last: %s',
    async (how) => {
      const harness = await open();
      const { backend, clock } = harness;
      const client = (): Fairloom =>
        new Fairloom({ backend, clock, tasks: [echo], log: silentLogger, ...OPTIONS[how] });
      const [first, second, unused] = [client(), client(), client()];
      await second.worker().start();
      expect(await (await first.enqueue(echo, 1)).result()).toBe(1);
      await first.close();
      await first.close();
      await expect(first.enqueue(echo, 2)).rejects.toMatchObject({ code: 'CLOSED' });
      expect(await (await second.enqueue(echo, 3)).result()).toBe(3);
      await second.close();
      expect((await unused.stats()).counts.finished).toBe(2);
      await unused.close();
      await expect(backend.inspect.stats()).rejects.toMatchObject({ code: 'CLOSED' });
      await harness.close();
    },
  );

  // F98
  it('a client whose options are refused keeps no backend open', async () => {
    const harness = await open();
    const { backend, clock } = harness;
    const client = new Fairloom({ backend, clock, tasks: [echo], log: silentLogger });
    expect(
      () => new Fairloom({ backend, clock, tasks: [echo], retention: { finished: -1 } }),
    ).toThrow();
    await client.stats();
    await client.close();
    await expect(backend.inspect.stats()).rejects.toMatchObject({ code: 'CLOSED' });
    await harness.close();
  });
});
