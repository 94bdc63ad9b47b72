/** Channels of handlers that run here and now; what they refuse before anything is stored. */
import { describe, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import {
  ChannelLimitError,
  ChannelTypeError,
  InvalidOptionError,
  InvalidPayloadError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { type ChannelOf, channel } from '../../../src/workflow/channel.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { refusal } from '../../support/runs.ts';

interface Any {
  n: number;
  list: unknown[];
  other: unknown;
}

const bag = channel<Any>('bag');

const add = task('add', async (n: number, ctx) => {
  await ctx.channel(bag).add('n', n);
  return n;
});
const read = task('read', (_n: unknown, ctx) => ctx.channel(bag).get('n'));

/** A key of which the type says nothing. */
function keyOf(at: number): 'other' {
  return `k${at}` as 'other';
}

function writeBy(own: ChannelOf<Any>, way: 'set' | 'append', value: unknown): Promise<void> {
  return way === 'set' ? own.set('list', value as unknown[]) : own.append('list', value);
}

async function here<T>(body: (loom: Fairloom) => Promise<T>): Promise<T> {
  const loom = new Fairloom({ backend: memory(), tasks: [], log: silentLogger });
  try {
    return await body(loom);
  } finally {
    await loom.close();
  }
}

/** What a handler makes of its channel, and what it throws. */
function inHandler<T>(body: (own: ChannelOf<Any>) => Promise<T>): Promise<T | undefined> {
  const one = task('one', { retries: 0 }, async (_n: number, ctx) => {
    result = await body(ctx.channel(bag));
  });
  let result: T | undefined;
  return here(async (loom) => {
    await loom.run(one, 1);
    return result;
  });
}

describe('loom.run', () => {
  it('gives all nodes of one run the same channels, also groups and steps of handlers', async () => {
    const inner = task('inner', (n: number, ctx) => ctx.run(each(add.as('deep')), [n, n]));
    const loop = dynamic('loop', async (_n: unknown, ctx) => {
      await ctx.channel(bag).add('n', 100);
      return ctx.cycle === 0 ? ctx.again(1) : 1;
    });
    const step = parallel({ a: add.as('a'), b: add.as('b'), inner })
      .pipe(loop)
      .pipe(read);
    await here(async (loom) => {
      expect(await loom.run(step, 1)).toBe(204);
      expect(await loom.run(step, 2)).toBe(208);
    });
  });

  it('drops what a failed attempt wrote, and keeps what it wrote at once', async () => {
    const flaky = task('flaky', { retries: 1, backoff: { base: 0 } }, async (_n: number, ctx) => {
      await ctx.channel(bag).add('n', 1);
      await ctx.channel(bag).live.append('list', ctx.attempt, { once: 'list' });
      if (ctx.attempt === 1) throw new Error('no');
    });
    const look = task('look', async (_n: unknown, ctx) => [
      await ctx.channel(bag).get('n'),
      await ctx.channel(bag).get('list'),
    ]);
    await here(async (loom) => {
      expect(await loom.run(flaky.pipe(look), 1)).toEqual([1, [1]]);
    });
  });

  it('fails a node whose writes do not fit', async () => {
    const text = task('text', (_n: number, ctx) => ctx.channel(bag).set('n', 'text' as never));
    await here(async (loom) => {
      const step = text.pipe(task('two', () => 2)).pipe(add);
      expect(await refusal(loom.run(step, 1))).toBeInstanceOf(ChannelTypeError);
    });
  });
});

describe('a channel', () => {
  it('adds, appends, sets and deletes in the order of the calls', async () => {
    const seen = await inHandler(async (own) => {
      await own.append('list', 1);
      await own.append('list', [2]);
      await own.set('n', 5);
      await own.add('n', -2);
      const first = [await own.get('list'), await own.get('n')];
      await own.delete('list');
      await own.append('list', null);
      await own.delete('n');
      return [...first, await own.get('list'), await own.get('n'), await own.get('other')];
    });
    expect(seen).toEqual([[1, [2]], 3, [null], undefined, undefined]);
  });

  it('leaves what was read as it was: values are copies', async () => {
    const seen = await inHandler(async (own) => {
      const list = [1];
      await own.set('list', list);
      list.push(2);
      const copy = await own.get('list');
      copy?.push(3);
      return own.get('list');
    });
    expect(seen).toEqual([1]);
  });

  it.each([
    ['a date', { at: [new Date(0)] }, '$.at[0]'],
    ['NaN', Number.NaN, '$'],
    ['undefined', undefined, '$'],
    ['a map', { deep: { map: new Map() } }, '$.deep.map'],
  ])('refuses %s, and names the place', async (_what, value, path) => {
    for (const way of ['set', 'append'] as const) {
      const error = await refusal(inHandler((own) => writeBy(own, way, value)));
      expect(error).toBeInstanceOf(InvalidPayloadError);
      expect(error).toMatchObject({ path });
      expect((error as Error).message).toContain('channel bag, key "list"');
    }
  });

  it('refuses sums that are no numbers, and writes that do not fit', async () => {
    const wrong: ((own: ChannelOf<Any>) => Promise<unknown>)[] = [
      async (own) => own.set('n', 'x' as never).then(() => own.add('n', 1)),
      async (own) => own.add('n', 1).then(() => own.append('n' as 'list', 1)),
      async (own) => own.append('list', 1).then(() => own.add('list' as 'n', 1)),
      async (own) => own.add('n', 1.7e308).then(() => own.add('n', 1.7e308)),
    ];
    for (const write of wrong) {
      expect(await refusal(inHandler(write))).toBeInstanceOf(ChannelTypeError);
    }
    expect(
      await refusal(inHandler((own) => own.add('n', Number.POSITIVE_INFINITY))),
    ).toBeInstanceOf(InvalidPayloadError);
  });

  it('refuses keys and channels that are none', async () => {
    for (const key of ['', 'x'.repeat(129), '\ud800', 7]) {
      const error = await refusal(inHandler((own) => own.set(key as 'other', 1)));
      expect(error).toBeInstanceOf(InvalidOptionError);
    }
    const once = await refusal(inHandler((own) => own.live.add('n', 1, { once: '' })));
    expect(once).toMatchObject({ option: 'once' });
    const given = { once: 'x' };
    const refused = await refusal(inHandler((own) => own.live.add.call(own, 'n', 1, given)));
    expect(refused).toMatchObject({ option: 'once' });
    const one = task('one', { retries: 0 }, (_n: number, ctx) =>
      ctx.channel({} as never).get('x' as never),
    );
    const error = await here((loom) => refusal(loom.run(one, 1)));
    expect(error).toMatchObject({ option: 'channel' });
    expect(() => channel('no name')).toThrow(InvalidOptionError);
    expect(() => channel('x', { schemas: { a: 1 } as never })).toThrow(/schemas\.a/);
  });

  it('is the same by name, also when another copy of the package made it', async () => {
    const other = { type: 'channel', name: 'bag' } as unknown as typeof bag;
    const one = task('one', async (_n: number, ctx) => {
      await ctx.channel(bag).add('n', 1);
      await ctx.channel(other).add('n', 1);
      return ctx.channel(channel<Any>('bag')).get('n');
    });
    expect(await here((loom) => loom.run(one, 1))).toBe(2);
  });

  it('has bounds for one attempt', async () => {
    const many = await refusal(
      inHandler(async (own) => {
        for (let at = 0; at <= LIMITS.channelWrites; at++) await own.set(keyOf(at), at);
      }),
    );
    expect(many).toBeInstanceOf(ChannelLimitError);
    expect(many).toMatchObject({ limit: 'channelWrites', key: `k${LIMITS.channelWrites}` });
    const long = 'x'.repeat(LIMITS.channelValueBytes - 10);
    const big = await refusal(
      inHandler(async (own) => {
        for (let at = 0; at < 5; at++) await own.set(keyOf(at), long);
      }),
    );
    expect(big).toMatchObject({ limit: 'channelBytes', channel: 'bag', key: 'k4' });
    const grown = await refusal(
      inHandler(async (own) => {
        for (let at = 0; at < 2; at++) await own.append('list', long);
      }),
    );
    expect(grown).toMatchObject({ limit: 'channelValueBytes' });
    for (const way of ['set', 'append'] as const) {
      const whole = await refusal(inHandler((own) => writeBy(own, way, `${long}${long}`)));
      expect(whole).toMatchObject({
        code: 'CHANNEL_LIMIT',
        limit: 'channelValueBytes',
        key: 'list',
      });
    }
    const again = inHandler(async (own) => {
      for (let at = 0; at < 9; at++) await own.set('n', long as never);
      return 'fine';
    });
    expect(await again).toBe('fine');
  });
});

describe('a channel with schemas', () => {
  const short: StandardSchemaV1<string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async (value: unknown) =>
        typeof value === 'string' && value.length < 5
          ? { value: value.toUpperCase() }
          : { issues: [{ message: 'too long', path: ['x'] }] },
    },
  };
  const typed = channel<{ word: string; words: string[] }>('typed', { schemas: { word: short } });

  it('asks them when a value is set and when it is read', async () => {
    const one = task('one', { retries: 0 }, async (word: string, ctx) => {
      await ctx.channel(typed).set('word', word);
      return ctx.channel(typed).get('word');
    });
    await here(async (loom) => {
      expect(await loom.run(one, 'abc')).toBe('ABC');
      const error = await refusal(loom.run(one, 'abcdef'));
      expect(error).toBeInstanceOf(InvalidPayloadError);
      expect(error).toMatchObject({ path: '$.x' });
    });
  });

  it('refuses on reading what another definition has written', async () => {
    const loose = channel<{ word: number }>('typed');
    const one = task('one', { retries: 0 }, async (_n: number, ctx) => {
      await ctx.channel(loose).set('word', 7);
      return ctx.channel(typed).get('word');
    });
    const error = await here((loom) => refusal(loom.run(one, 1)));
    expect(error).toBeInstanceOf(InvalidPayloadError);
  });
});
