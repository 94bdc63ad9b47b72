/**
 * What layout 3 stored elsewhere, or in other bytes, than the layout of today: the clock as 24 doubles in `s` of `clock`,
 * the numbers of a queue in `s` of `fair`, without flags, and tags of the levels of a user. A namespace of that layout is only ever copied.
 */
import type { LevelTags } from '../../domain/fairness/priority-shares.ts';
import { FLAGS } from '../redis/layout/codes.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import { offsetsOf, PACKED } from '../redis/layout/packed.ts';
import type { KeyNames } from './key-names.ts';
import type { KeysReader } from './keys-reader.ts';
import { packedBytes } from './packed-bytes.ts';

/** The layout that can be copied beside that of today. */
export const COPIED_LAYOUT = 3;

/** Doubles of its clock that a copy needs, by their place. */
const PLACES = { seen: 0, pause: 1, steps: 19 } as const;
const CLOCK_BYTES = 24 * 8;
const NUMBERS = 's';

const { clock: CLOCK } = HASH_FIELDS;

/** The hash of the clock as it is today. */
export async function clockFields(reader: KeysReader): Promise<ReadonlyMap<string, Buffer>> {
  const fields = await reader.hash('clock');
  const packed = fields.get(CLOCK.numbers[0]);
  if (packed === undefined || fields.has(CLOCK.upkeep[0])) return fields;
  if (packed.length !== CLOCK_BYTES) return fields;
  const at = (place: number): number => packed.readDoubleLE(8 * place);
  const clock = packedBytes('clock', {
    ...NO_CLOCK,
    seen: at(PLACES.seen),
    steps: at(PLACES.steps),
  });
  const upkeep = packedBytes('upkeep', { ...NO_UPKEEP, pause: at(PLACES.pause) });
  return new Map([
    [CLOCK.numbers[0], clock],
    [CLOCK.upkeep[0], upkeep],
  ]);
}

/** Numbers of queues, by name, as they are today. */
export async function queueNumbers(
  reader: KeysReader,
  names: KeyNames,
): Promise<ReadonlyMap<string, Buffer>> {
  const [prefix] = CLOCK.queue;
  const found = new Map<string, Buffer>();
  for (const [field, packed] of await reader.hash('clock')) {
    if (field.startsWith(prefix)) found.set(field.slice(prefix.length), packed);
  }
  for (const { queue, name } of names.of('fair')) {
    const packed = (await reader.hash(name)).get(NUMBERS);
    if (packed !== undefined) found.set(queue, withFlags(packed));
  }
  return found;
}

/** Where the flags of a queue stand. */
const FLAGS_AT = (offsetsOf(PACKED.queue)['flags'] ?? Number.NaN) - 1;

function withFlags(packed: Buffer): Buffer {
  const flags = Buffer.from([FLAGS.queue.settings]);
  return Buffer.concat([packed.subarray(0, FLAGS_AT), flags, packed.subarray(FLAGS_AT)]);
}

/** A double and a number of 4 bytes; then a byte and two doubles for each level. */
const TAGS = { head: 12, level: 17 } as const;

/** Turns between levels of a user; nothing where they are as they are today. */
export function levelTags(
  packed: Buffer,
): (LevelTags & { readonly criticalRun: number }) | undefined {
  if ((packed.length - TAGS.head) % TAGS.level !== 0) return undefined;
  const tag = [0, 0, 0, 0, 0];
  for (let at: number = TAGS.head; at < packed.length; at += TAGS.level) {
    tag[packed.readUInt8(at) - 1] = packed.readDoubleLE(at + 9);
  }
  return { v: packed.readDoubleLE(0), criticalRun: packed.readUInt32LE(8), tag };
}

/** What a copy does not look at. */
const NO_CLOCK = {
  started: 0,
  finished: 0,
  failed: 0,
  canceled: 0,
  due: 0,
  upkeep: 0,
  stamp: 0,
  waiting: 0,
  ears: 0,
  flags: 0,
};
const NO_UPKEEP = {
  scheduledUsers: 0,
  throttled: 0,
  deadlines: 0,
  cascade: 0,
  listedWorkers: 0,
  submissions: 0,
  missing: 0,
  configs: 0,
  dropping: 0,
  refresh: 0,
  schedulesDue: 0,
  xcomEnds: 0,
};
