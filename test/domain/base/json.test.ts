/** The strict codec: every text that it writes reads back as the value that was given. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeJson, encodeJson } from '../../../src/base/json.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const MAX = 1_000_000;

it('reads back what it writes, for all that JSON can hold', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const encoded = encodeJson(value, MAX);
      const text = encoded.ok ? encoded.text : '';
      // −0 is 0 in JSON.
      expect(decodeJson(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it('never throws, and never changes a value without a word', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (value) => {
      const encoded = encodeJson(value, MAX);
      if (!encoded.ok) {
        expect(encoded.path).toMatch(/^\$/);
        return;
      }
      const back = decodeJson(encoded.text);
      const again = encodeJson(back, MAX);
      expect(again).toEqual(encoded);
    }),
  );
});

it('keeps undefined, and leaves out properties that are undefined', () => {
  expect(encodeJson(undefined, MAX)).toEqual({ ok: true, text: '', bytes: 0 });
  expect(decodeJson('')).toBeUndefined();
  expect(encodeJson({ a: undefined, b: 1 }, MAX)).toMatchObject({ text: '{"b":1}' });
});

it('counts bytes, not characters', () => {
  expect(encodeJson('é', 4)).toMatchObject({ ok: true, bytes: 4 });
  expect(encodeJson('éé', 5)).toMatchObject({ ok: false, path: '$' });
  expect(encodeJson('x'.repeat(10_000), MAX)).toMatchObject({ bytes: 10_002 });
});

it('refuses shared references that would blow the text up', () => {
  let value: unknown = [];
  for (let level = 0; level < 60; level++) value = [value, value];
  expect(encodeJson(value, MAX)).toMatchObject({ ok: false });
});

it('shows the beginning of a path that has no end', () => {
  const endless: { next?: unknown } = {};
  endless.next = endless;
  const encoded = encodeJson(endless, MAX);
  expect(encoded).toMatchObject({ ok: false, path: `$${'.next'.repeat(16)}…` });
});

// F71
it('refuses a payload of 300 MB, or with a million keys, while it walks, and not after seconds', () => {
  const long = 'x'.repeat(300_000_000);
  let reads = 0;
  const rows = Array.from({ length: 1_000_000 }, (_, at) => ({
    get at(): number {
      reads++;
      return at;
    },
  }));
  const wide = Object.fromEntries(rows.map((_, at) => [`key-${at}`, at]));
  for (const value of [long, { a: { b: [long] } }, [[long]], wide, { wide }, { [long]: 1 }]) {
    const before = cpuMs();
    const encoded = encodeJson(value, 1_048_576);
    const took = cpuMs() - before;
    const problem = 'is more than 1048576 bytes of JSON';
    expect(encoded).toEqual({ ok: false, path: '$', problem });
    // The old walk took seconds. What is left is one listing of the keys.
    expect(took).toBeLessThan(2_500);
  }
  // Each takes at least `{"at":1},`: the walk has stopped at the limit.
  expect(encodeJson(rows, 1_048_576)).toMatchObject({ ok: false, path: '$' });
  expect(reads).toBeGreaterThan(50_000);
  expect(reads).toBeLessThan(1_048_576 / 8);
});

// F71
it('stops at the limit wherever a value hides its size', () => {
  const encoded = (value: unknown, most: number) => encodeJson(value, most);
  for (const value of [{}, [], [{}], '', 'ab', '\n', 12, true, null, { a: [1, 2, { b: 'c' }] }]) {
    const whole = encoded(value, 1_000);
    const bytes = whole.ok ? whole.bytes : 0;
    expect(whole).toMatchObject({ text: JSON.stringify(value), bytes });
    expect(encoded(value, bytes)).toEqual(whole);
    expect(encoded(value, bytes - 1)).toMatchObject({ ok: false, path: '$' });
  }
});

// F71
it('reads each property once: what is checked is what is stored', () => {
  const reads: string[] = [];
  const shifty = (): unknown => ({
    get a(): unknown {
      reads.push('a');
      return reads.filter((name) => name === 'a').length === 1 ? 1 : Number.NaN;
    },
    get toJSON(): unknown {
      reads.push('toJSON');
      return reads.filter((name) => name === 'toJSON').length === 1 ? 2 : () => 'something else';
    },
    get list(): unknown {
      reads.push('list');
      return [3];
    },
  });
  expect(encodeJson(shifty(), MAX)).toMatchObject({ text: '{"a":1,"toJSON":2,"list":[3]}' });
  expect(reads.toSorted()).toEqual(['a', 'list', 'toJSON']);

  const seen: PropertyKey[] = [];
  const watched = <T extends object>(value: T): T =>
    new Proxy(value, {
      get: (target, key) => {
        seen.push(key);
        return Reflect.get(target, key);
      },
    });
  const proxied = watched({ b: watched([4, 5]), c: 'd' });
  expect(encodeJson(proxied, MAX)).toMatchObject({ text: '{"b":[4,5],"c":"d"}' });
  expect(seen).toEqual(['toJSON', 'b', 'toJSON', 'length', '0', '1', 'c']);
});

// F71
it('refuses what writes itself, and what throws when it is read', () => {
  const own = { a: 1, toJSON: () => ({ a: 2 }) };
  const list = Object.assign([1], { toJSON: () => [2] });
  const bad = {
    get a(): never {
      throw new Error('not today');
    },
  };
  expect(encodeJson(own, MAX)).toMatchObject({ ok: false, path: '$' });
  expect(encodeJson({ list }, MAX)).toMatchObject({ ok: false, path: '$.list' });
  expect(encodeJson(bad, MAX)).toMatchObject({ problem: 'cannot be read (not today)' });
});

it('writes what JSON.stringify writes, in one piece or many', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), text, (value, key) => {
      const given = { [key]: value, list: Array.from({ length: 2_100 }, (_, at) => at / 3) };
      expect(encodeJson(given, MAX)).toMatchObject({ text: JSON.stringify(given) });
    }),
    { numRuns: 200 },
  );
});
