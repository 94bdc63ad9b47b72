/** Records that Redis holds as bytes, by their formats in `src/backends/redis/layout/packed.ts`. */
import { type FieldKind, PACKED } from '../redis/layout/packed.ts';

type Name = keyof typeof PACKED;

/** The fields of a record that hold numbers. */
type FieldOf<N extends Name> = Exclude<
  (typeof PACKED)[N]['fields'][number][0],
  'pad1' | 'pad2' | 'pad3' | 'pad4'
>;

/** The numbers of a record, by field. */
export type Numbers<N extends Name> = Readonly<Record<FieldOf<N>, number>>;

const BYTES: Readonly<Record<FieldKind, number>> = { d: 8, I: 4, B: 1, x: 1 };

/** The fields of a record, as a table that knows no more than their kinds. */
function fieldsOf(name: Name): readonly (readonly [field: string, kind: FieldKind])[] {
  return PACKED[name].fields.map(([field, kind]) => [field, kind]);
}

/** How many bytes the fields of a record take. */
export function sizeOf(name: Name): number {
  return fieldsOf(name).reduce((sum, [, kind]) => sum + BYTES[kind], 0);
}

/** Packs the numbers of a record. */
export function packedBytes<N extends Name>(name: N, numbers: Numbers<N>): Buffer {
  const bytes = Buffer.alloc(sizeOf(name));
  const values = new Map<string, number>(Object.entries<number>(numbers));
  let at = 0;
  for (const [field, kind] of fieldsOf(name)) {
    const value = values.get(field) ?? 0;
    if (kind === 'd') bytes.writeDoubleLE(value, at);
    else if (kind === 'I') bytes.writeUInt32LE(value >>> 0, at);
    else bytes[at] = value;
    at += BYTES[kind];
  }
  return bytes;
}

/** Reads the numbers of a record; `rest` is what stands behind them. */
export function numbersIn<N extends Name>(
  name: N,
  bytes: Buffer,
  from = 0,
): { readonly numbers: Numbers<N>; readonly rest: Buffer } {
  const found: [string, number][] = [];
  let at = from;
  for (const [field, kind] of fieldsOf(name)) {
    if (kind === 'd') found.push([field, bytes.readDoubleLE(at)]);
    else if (kind === 'I') found.push([field, bytes.readUInt32LE(at)]);
    else found.push([field, bytes[at] ?? 0]);
    at += BYTES[kind];
  }
  // Each field of the format has been read.
  return { numbers: Object.fromEntries(found) as Numbers<N>, rest: bytes.subarray(at) };
}
