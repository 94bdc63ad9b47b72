/** What XCom refuses, before anything is stored. */
import { describe, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import type { FairloomOptions } from '../../../src/core/options.ts';
import {
  InvalidOptionError,
  InvalidPayloadError,
  XComLimitError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import type { XCom } from '../../../src/workflow/xcom.ts';
import { xcomKey } from '../../../src/workflow/xcom-key.ts';
import { refusal } from '../../support/runs.ts';

const short: StandardSchemaV1<unknown, string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) =>
      typeof value === 'string' && value.length < 5
        ? { value: value.toUpperCase() }
        : { issues: [{ message: 'must be short', path: ['text'] }] },
  },
};

function loomWith(options: Partial<FairloomOptions> = {}): Fairloom {
  return new Fairloom({ backend: memory(), tasks: [], log: silentLogger, ...options });
}

/** What a handler makes of its values, and what it throws. */
async function inHandler<T>(body: (xcom: XCom) => Promise<T>): Promise<T | undefined> {
  let result: T | undefined;
  const one = task('one', { retries: 0 }, async (_n: number, ctx) => {
    result = await body(ctx.xcom);
  });
  const loom = loomWith();
  try {
    await loom.run(one, 1);
    return result;
  } finally {
    await loom.close();
  }
}

describe('keys', () => {
  it.each([
    [''],
    ['x'.repeat(129)],
    ['\ud800'],
    [7],
    [null],
    [{ name: 'k' }],
    [{ type: 'xcom-key', name: '' }],
  ])('%j is none', async (key) => {
    const bad = key as string;
    expect(await refusal(inHandler((xcom) => xcom.push(bad, 1)))).toBeInstanceOf(
      InvalidOptionError,
    );
    expect(await refusal(inHandler((xcom) => xcom.pull(bad)))).toBeInstanceOf(InvalidOptionError);
    expect(await refusal(inHandler((xcom) => xcom.delete(bad)))).toBeInstanceOf(InvalidOptionError);
    expect(await refusal(inHandler(async (xcom) => xcom.in(bad)))).toBeInstanceOf(
      InvalidOptionError,
    );
  });

  it('a definition refuses a name or a schema that is none', () => {
    expect(() => xcomKey('')).toThrow(InvalidOptionError);
    expect(() => xcomKey('k', { parse: () => 1 } as never)).toThrow(InvalidOptionError);
  });

  it('a key of another copy of the package is known by its name', async () => {
    const other = { type: 'xcom-key', name: 'k' } as never;
    expect(
      await inHandler(async (xcom) => {
        await xcom.push(other, 1 as never);
        return xcom.pull('k');
      }),
    ).toBe(1);
  });

  it('a schema checks what is pushed and what is pulled', async () => {
    const key = xcomKey('k', short);
    const pushed = inHandler((xcom) => xcom.push(key, 'much too long'));
    expect(await refusal(pushed)).toMatchObject({ code: 'INVALID_PAYLOAD', path: '$.text' });
    expect(
      await inHandler(async (xcom) => {
        await xcom.push(key, 'abc');
        return xcom.pull(key);
      }),
    ).toBe('ABC');
    const unchecked = inHandler(async (xcom) => {
      await xcom.push('k', 7);
      return xcom.pull(key);
    });
    expect(await refusal(unchecked)).toBeInstanceOf(InvalidPayloadError);
  });
});

describe('values', () => {
  it.each([[undefined], [Number.NaN], [() => 1], [10n], [new Map()]])(
    '%s is none',
    async (value) => {
      const error = await refusal(inHandler((xcom) => xcom.push('k', value)));
      expect(error).toBeInstanceOf(InvalidPayloadError);
      expect(String(error)).toContain('xcom key "k"');
    },
  );

  it('one of 256 KiB is stored, a larger one is refused', async () => {
    const fits = 'x'.repeat(LIMITS.xcomValueBytes - 2);
    expect(
      await inHandler(async (xcom) => {
        await xcom.push('k', fits);
        return xcom.pull('k');
      }),
    ).toBe(fits);
    const error = await refusal(inHandler((xcom) => xcom.push('k', `${fits}x`)));
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(String(error)).toContain(String(LIMITS.xcomValueBytes));
  });

  it('an attempt changes 100 values and no more', async () => {
    const most = async (xcom: XCom): Promise<void> => {
      for (let n = 0; n < LIMITS.xcomWrites; n++) await xcom.push(`k${n}`, n);
      await xcom.push('k0', 'again');
    };
    await inHandler(most);
    const error = await refusal(
      inHandler(async (xcom) => {
        await most(xcom);
        return xcom.delete('more');
      }),
    );
    expect(error).toMatchObject({ code: 'XCOM_LIMIT', key: 'more', limit: 'xcomWrites' });
    expect(error).toBeInstanceOf(XComLimitError);
  });

  it.each([['x'], ['\u20ac']])('an attempt pushes 1 MiB of %s in all and no more', async (char) => {
    const width = Buffer.byteLength(char);
    // Two bytes of a value are its quotes.
    const quarter = LIMITS.xcomBytes / 4 - 2;
    const large = char.repeat(Math.floor(quarter / width)) + 'x'.repeat(quarter % width);
    const most = async (xcom: XCom): Promise<void> => {
      for (let n = 0; n < 4; n++) await xcom.push(`k${n}`, large);
      await xcom.push('k3', large);
    };
    await inHandler(most);
    const error = await refusal(
      inHandler(async (xcom) => {
        await most(xcom);
        await xcom.push('k4', 1);
      }),
    );
    expect(error).toMatchObject({ code: 'XCOM_LIMIT', key: 'k4', limit: 'xcomBytes' });
  });

  it('what is pushed or deleted without waiting for it counts', async () => {
    const checked = xcomKey<number>('checked', {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => (value === 7 ? { value: 7 } : { issues: [] }),
      },
    });
    const forget = task('forget', { retries: 0 }, (_n: number, ctx) => {
      void ctx.xcom.push('k', 1);
      void ctx.xcom.push(checked, 7);
      void ctx.xcom.delete('old');
      return 0;
    });
    const loom = loomWith({ tasks: [forget] });
    await loom.xcom.push('old', 1);
    await loom.run(forget, 1);
    expect(await loom.xcom.pull('k')).toBe(1);
    expect(await loom.xcom.pull(checked)).toBe(7);
    expect(await loom.xcom.pull('old')).toBe(undefined);
    await loom.close();
  });

  it('a codec of the client is the codec of its values', async () => {
    const codec = {
      encode: (value: unknown) => `v=${String(value)}`,
      decode: (text: string) => text.slice(2),
    };
    const loom = loomWith({ codec });
    await loom.xcom.push('k', 7);
    expect(await loom.xcom.pull('k')).toBe('7');
    await loom.close();
  });
});

describe('options', () => {
  it.each([[0], [-1], ['soon'], [Number.NaN], ['11y']])('a ttl of %j is none', async (ttl) => {
    const bad = ttl as number;
    expect(await refusal(inHandler((xcom) => xcom.push('k', 1, { ttl: bad })))).toBeInstanceOf(
      InvalidOptionError,
    );
    expect(() => loomWith({ xcom: { ttl: bad } })).toThrow(InvalidOptionError);
  });

  it.each([[null], ['1h'], [60_000]])('xcom of a client is an object, not %j', (options) => {
    expect(() => loomWith({ xcom: options as never })).toThrow(InvalidOptionError);
  });

  it('xcom of a definition is true or false', () => {
    expect(() => task('t', { xcom: 'yes' as never }, async () => 1)).toThrow(InvalidOptionError);
  });

  it('a client that demands users demands them of values', async () => {
    const loom = loomWith({ requireUser: true });
    expect(await refusal(loom.xcom.push('k', 1))).toBeInstanceOf(InvalidOptionError);
    expect(await refusal(loom.xcom.list({ user: 'ann', namespace: '' }))).toBeInstanceOf(
      InvalidOptionError,
    );
    expect(await refusal(loom.xcom.list({ user: 'ann', limit: 501 }))).toBeInstanceOf(
      InvalidOptionError,
    );
    await loom.close();
  });
});
