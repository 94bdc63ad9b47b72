/** What writes make of the values of channels; the rules that both backends follow. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/domain/limits.ts';
import {
  ChannelValues,
  type ChannelWrite,
  folded,
  writeBytes,
} from '../../src/domain/task/channel.ts';

const set = (field: string, text: string): ChannelWrite => ({ type: 'set', field, text });
const add = (field: string, by: number): ChannelWrite => ({ type: 'add', field, by });
const append = (field: string, text: string): ChannelWrite => ({ type: 'append', field, text });
const drop = (field: string): ChannelWrite => ({ type: 'delete', field });

describe('values of channels', () => {
  it('are left as they were by writes of which one is refused', () => {
    const values = new ChannelValues();
    values.write([set('c:a', '"x"')]);
    const once = { ...add('c:n', 1), once: 'k' } as ChannelWrite;
    const refusal = { type: 'unfit', field: 'c:a', operation: 'add' };
    expect(values.write([set('c:b', '1'), once, add('c:a', 1)])).toEqual(refusal);
    expect(values.read()).toEqual({ 'c:a': '"x"' });
    expect(values.write([once])).toBeUndefined();
    expect(values.write([once])).toBeUndefined();
    expect(values.read()).toEqual({ 'c:a': '"x"', 'c:n': '1' });
  });

  it('weigh what their texts do, and what is remembered of them', () => {
    const values = new ChannelValues();
    const part = LIMITS.channelValueBytes;
    const text = `"${'x'.repeat(part - 2)}"`;
    const whole = Array.from({ length: LIMITS.channelBytes / part - 1 }, (_, at) =>
      set(`c:${at}`, text),
    );
    expect(values.write(whole)).toBeUndefined();
    // What is left, less the name of the last and the names of those before.
    const left = part - 3 * whole.length - 3;
    const last = `"${'x'.repeat(left - 2 - 30)}"`;
    expect(values.write([set('c:z', last)])).toBeUndefined();
    // 30 bytes: a number weighs 24 and its name 3; `3:c:n` and `k` are 6 more.
    const once = { ...add('c:n', 1), once: 'k' } as ChannelWrite;
    expect(values.write([once])).toMatchObject({ type: 'over', limit: 'channelBytes' });
    expect(values.write([add('c:n', 1)])).toBeUndefined();
    expect(values.write([drop('c:0'), once])).toBeUndefined();
  });
});

const write = fc.oneof(
  fc.constantFrom('1', '"x"', '[]', '[1]', 'null').map((text) => set('c:a', text)),
  fc.constant(drop('c:a')),
  fc.constantFrom('1', '"x",2', '[]').map((text) => append('c:a', text)),
  fc.constantFrom(1, -2, 0.5).map((by) => add('c:a', by)),
);

describe('folded writes', () => {
  it('come to the same as one after the other, upon any value', () => {
    const histories = fc.array(write, { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 2 }), histories, (before, writes) => {
        const [apart, together] = [new ChannelValues(), new ChannelValues()];
        apart.write(before);
        together.write(before);
        let whole: ChannelWrite | undefined;
        for (const one of writes) {
          const next = folded(whole, one);
          // A handler is told, and what it wrote before holds.
          if (next.type === 'unfit') continue;
          whole = next;
          apart.write([one]);
        }
        const refusal = whole && together.write([whole]);
        // One that does not fit what is stored is refused when it is applied.
        fc.pre(refusal === undefined);
        expect(together.read()).toEqual(apart.read());
      }),
    );
  });

  it('weigh as much as they hold', () => {
    expect(writeBytes(set('c:é', '"é"'))).toBe(8);
    expect(writeBytes(add('c:n', 1))).toBe(27);
    expect(writeBytes(drop('c:n'))).toBe(27);
  });
});
