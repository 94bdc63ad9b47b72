import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader, WireError } from '../../../src/backends/file/socket/wire.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { frame } from './raw.ts';

/** Everything that a reader finds in what arrives in these pieces. */
function textsOf(pieces: readonly Buffer[]): readonly string[] {
  const reader = new FrameReader();
  reader.greeted();
  const texts: string[] = [];
  for (const piece of pieces) {
    reader.add(piece);
    for (let text = reader.next(); text !== undefined; text = reader.next()) texts.push(text);
  }
  return texts;
}

describe('messages', () => {
  it('are read from pieces that end anywhere', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 8 });
    const ends = fc.array(fc.nat(400), { maxLength: 12 });
    fc.assert(
      fc.property(texts, ends, (written, cuts) => {
        const bytes = Buffer.concat(written.map(frame));
        const places = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length];
        const sorted = places.toSorted((a, b) => a - b);
        const pieces = sorted.slice(1).map((end, at) => bytes.subarray(sorted[at], end));
        expect(textsOf(pieces)).toEqual(written.map((text) => Buffer.from(text).toString()));
      }),
      { numRuns: 200 },
    );
  });

  it('are read from pieces of one byte', () => {
    const written = ['', 'ä', '[1,"users.list",[]]', '', '😀'];
    const bytes = Buffer.concat(written.map(frame));
    expect(textsOf([...bytes].map((byte) => Buffer.of(byte)))).toEqual(written);
  });

  it('may be short before a greeting, and so long after it', () => {
    const head = (bytes: number): Buffer => {
      const buffer = Buffer.alloc(4);
      buffer.writeUInt32BE(bytes);
      return buffer;
    };
    const early = new FrameReader();
    early.add(head(1_025));
    expect(() => early.next()).toThrow(WireError);
    const late = new FrameReader();
    late.greeted();
    late.add(head(LIMITS.socketBytes));
    expect(late.next()).toBeUndefined();
    const over = new FrameReader();
    over.greeted();
    over.add(head(LIMITS.socketBytes + 1));
    expect(() => over.next()).toThrow(WireError);
  });
});
