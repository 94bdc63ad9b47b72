/** What the compiler knows of channels. */
import { expectTypeOf, test } from 'vitest';
import { type Channel, channel, type DynamicContext, type TaskContext } from '../../src/index.ts';
import type { ChannelOf, LiveChannel, StandardSchemaV1 } from '../../src/types.ts';

interface Stats {
  count: number;
  seen: string[];
  best?: number;
  note: string | null;
  pairs: readonly [string, number][];
}

declare const ctx: TaskContext;
declare const text: StandardSchemaV1<string | null>;
declare const number: StandardSchemaV1<number>;

const stats = channel<Stats>('stats');
const own = ctx.channel(stats);

test('a channel has the type of its values', () => {
  expectTypeOf(stats).toEqualTypeOf<Channel<Stats>>();
  expectTypeOf(own).toEqualTypeOf<ChannelOf<Stats>>();
  expectTypeOf(own.live).toEqualTypeOf<LiveChannel<Stats>>();
  expectTypeOf<DynamicContext<number>>().toExtend<TaskContext>();
  channel<Stats>('stats', { schemas: { note: text, count: number } });
  // @ts-expect-error: a schema of another type
  channel<Stats>('stats', { schemas: { count: text } });
  // @ts-expect-error: no such key
  channel<Stats>('stats', { schemas: { other: text } });
  // @ts-expect-error: values have names
  channel<number>('stats');
  // @ts-expect-error: a channel of other values
  const other: Channel<{ count: number }> = stats;
  void other;
});

test('get and set know their keys and values', () => {
  expectTypeOf(own.get('count')).toEqualTypeOf<Promise<number | undefined>>();
  expectTypeOf(own.get('note')).toEqualTypeOf<Promise<string | null | undefined>>();
  expectTypeOf(own.live.get('best')).toEqualTypeOf<Promise<number | undefined>>();
  void own.set('note', null);
  void own.live.set('best', 1);
  // @ts-expect-error: no such key
  void own.get('other');
  // @ts-expect-error: not its type
  void own.set('count', '1');
  // @ts-expect-error: that is what delete is for
  void own.set('best', undefined);
  void own.delete('best');
  // @ts-expect-error: no such key
  void own.delete('other');
});

test('append is for lists, add is for numbers', () => {
  void own.append('seen', 'x');
  void own.append('pairs', ['x', 1]);
  void own.add('count', 1);
  void own.add('best', 1);
  // @ts-expect-error: no list
  void own.append('count', 1);
  // @ts-expect-error: not what it holds
  void own.append('seen', 1);
  // @ts-expect-error: no number
  void own.add('note', 1);
  // @ts-expect-error: not a number
  void own.add('count', '1');
});

test('only live writes can be told to count once', () => {
  void own.live.append('seen', 'x', { once: 'x' });
  void own.live.add('count', 1, { once: 'x' });
  // @ts-expect-error: they count once anyway
  void own.add('count', 1, { once: 'x' });
  // @ts-expect-error: setting twice is setting
  void own.live.set('count', 1, { once: 'x' });
});

test('keys may be any text', () => {
  const counts = ctx.channel(channel<Record<string, number>>('counts'));
  const word: string = 'x';
  void counts.add(word, 1);
  expectTypeOf(counts.get(word)).toEqualTypeOf<Promise<number | undefined>>();
  // @ts-expect-error: it holds numbers
  void counts.append(word, 1);
});
