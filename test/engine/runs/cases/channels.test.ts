/** What Graflow's tests ask of channels, and where its inputs and channels get in each other's way. */
import { expect, it } from 'vitest';
import { type Channel, channel } from '../../../../src/workflow/channel.ts';
import { each } from '../../../../src/workflow/parallel.ts';
import type { StandardSchemaV1 } from '../../../../src/workflow/standard-schema.ts';
import { dynamic, task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { settled } from '../../../support/runs.ts';

interface Values {
  sum: number;
  list: number[];
  data: string | null;
}

const values: Channel<Values> = channel<Values>('values');

const isUser = (value: unknown): value is { readonly name: string } =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).join() === 'name' &&
  typeof Reflect.get(value, 'name') === 'string';

/** A user: one field, a text. */
const user: StandardSchemaV1<unknown, { name: string }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => (isUser(value) ? { value } : { issues: [{ message: 'no user' }] }),
  },
};

eachBackend((open) => {
  const harness = opened(open);

  // B-W32 C2.18
  it('a channel whose key is called like an input is not that input', async () => {
    const loop = dynamic('loop', async (input: { readonly data: string }, ctx) => {
      const own = ctx.channel(values);
      const before = (await own.get('data')) ?? 'none';
      await own.set('data', null);
      if (ctx.cycle === 0) return ctx.again({ data: `${input.data} again` });
      return { input: input.data, before, now: await own.get('data') };
    });
    const loom = harness.loom([loop]);
    await loom.worker().start();
    const run = await loom.enqueue(loop, { data: 'first' });
    // A null that was written is a null, not something that is not there.
    expect(await settled(harness, run.result())).toEqual({
      ...{ input: 'first again', before: 'none', now: null },
    });
  });

  // C2.20
  it('a hundred writers at a time lose no sum and no element', async () => {
    const write = task('write', async (n: number, ctx) => {
      await ctx.channel(values).add('sum', n);
      await ctx.channel(values).append('list', n);
    });
    const read = task('read', async (_: unknown, ctx) => [
      await ctx.channel(values).get('sum'),
      ((await ctx.channel(values).get('list')) ?? []).toSorted((one, other) => one - other),
    ]);
    const whole = each(write).pipe(read);
    const loom = harness.loom([whole]);
    await Promise.all([
      loom.worker({ concurrency: 50 }).start(),
      harness.loom([whole]).worker({ concurrency: 50 }).start(),
    ]);
    const all = Array.from({ length: 100 }, (_, at) => at);
    const run = await loom.enqueue(whole, all);
    expect(await settled(harness, run.result())).toEqual([4_950, all]);
  });

  // C2.21
  it('a value that is not of its type is refused when it is set, and when it is read', async () => {
    const typed = channel<{ user: { name: string } }>('users', { schemas: { user } });
    const loose = channel<{ user: unknown }>('users');
    const set = task('set', { retries: 0 }, async (value: unknown, ctx) =>
      ctx.channel(typed).set('user', value as { name: string }),
    );
    const slip = task('slip', async (value: unknown, ctx) => ctx.channel(loose).set('user', value));
    const get = task('get', { retries: 0 }, async (_: unknown, ctx) =>
      ctx.channel(typed).get('user'),
    );
    const loom = harness.loom([set, slip, get]);
    await loom.worker().start();
    const good = await loom.enqueue(set.pipe(get), { name: 'Ada' });
    expect(await settled(harness, good.result())).toEqual({ name: 'Ada' });
    for (const bad of [{ name: 'Ada', age: 36 }, {}, { name: 36 }]) {
      for (const step of [set.pipe(get), slip.pipe(get)]) {
        const run = await loom.enqueue(step, bad);
        await expect(settled(harness, run.result())).rejects.toThrow('no user');
      }
    }
  });
});
