/** The strict codec: every text that it writes reads back as the value that was given. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeJson, encodeJson } from '../../src/base/json.ts';

const MAX = 1_000_000;

it('reads back what it writes, whatever JSON can hold', () => {
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
