/** What the compiler knows of XCom. */
import { expectTypeOf, test } from 'vitest';
import {
  type Fairloom,
  ref,
  type TaskContext,
  task,
  type XCom,
  type XComKey,
  xcomKey,
} from '../../src/index.ts';
import type { StandardSchemaV1 } from '../../src/types.ts';

interface Rates {
  readonly JPY: number;
  readonly note?: string;
}

declare const ctx: TaskContext;
declare const loom: Fairloom;
declare const number: StandardSchemaV1<unknown, number>;

const rates = xcomKey<Rates>('rates');
const maybe = xcomKey<string | undefined>('maybe');
const extract = task('extract', { xcom: true }, async (n: number) => ({ rows: [n] }));

test('a key has the type of its value', () => {
  expectTypeOf(rates).toEqualTypeOf<XComKey<Rates>>();
  expectTypeOf(xcomKey('n', number)).toEqualTypeOf<XComKey<number>>();
  // @ts-expect-error: a schema of another type
  xcomKey<string>('n', number);
  // @ts-expect-error: keys of different values are different
  const other: XComKey<{ readonly JPY: string }> = rates;
  void other;
});

test('push takes what the key holds', () => {
  void ctx.xcom.push(rates, { JPY: 160 });
  void ctx.xcom.push(rates, { JPY: 160 }, { ttl: '1d' });
  void ctx.xcom.push('any', [1]);
  void loom.xcom.push(rates, { JPY: 160 }, { user: 'ann', namespace: 'eu', ttl: '1d' });
  // @ts-expect-error: another value
  void ctx.xcom.push(rates, { JPY: 'many' });
  // @ts-expect-error: another value
  void loom.xcom.push(rates, 160);
  // @ts-expect-error: nothing is no value
  void ctx.xcom.push(maybe, undefined);
  // @ts-expect-error: results are pushed by their tasks
  void ctx.xcom.push(extract, { rows: [1] });
  // @ts-expect-error: no such option
  void ctx.xcom.push(rates, { JPY: 160 }, { user: 'bob' });
});

test('pull gives what the key holds, or nothing', () => {
  expectTypeOf(ctx.xcom.pull(rates)).resolves.toEqualTypeOf<Rates | undefined>();
  expectTypeOf(ctx.xcom.pull(extract)).resolves.toEqualTypeOf<{ rows: number[] } | undefined>();
  expectTypeOf(ctx.xcom.pull(ref<typeof extract>('extract'))).resolves.toEqualTypeOf<
    { rows: number[] } | undefined
  >();
  expectTypeOf(ctx.xcom.pull('any')).resolves.toEqualTypeOf<unknown>();
  expectTypeOf(loom.xcom.pull(rates, { user: 'ann' })).resolves.toEqualTypeOf<Rates | undefined>();
  expectTypeOf(ctx.xcom.in('eu')).toEqualTypeOf<XCom>();
  expectTypeOf(ctx.xcom.delete(rates)).resolves.toEqualTypeOf<void>();
  // @ts-expect-error: a key is a text, a key or a task
  void ctx.xcom.pull(7);
});
