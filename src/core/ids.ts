import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock } from '../base/time.ts';

/** Random bytes are drawn for many ids at once: a draw costs more than an id. */
const POOL_BYTES = 4_096;

/** Random bytes per id: 2 bits of variant, and 72 more. */
const RANDOM_BYTES = 10;

/** Positions of the 72 random bits, as 18 hexadecimal digits. */
const DIGITS_AT = [15, 16, 17, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35];
const VARIANT_AT = 19;
const HEX = Buffer.from('0123456789abcdef');

/**
 * Creates a generator of ids: UUIDs of version 7, whose first 48 bits are the clock's milliseconds.
 * Written digit by digit into one buffer: an id concatenated from strings keeps its parts in
 * memory, ten times as much.
 */
export function uuidV7(clock: Clock): () => string {
  const text = Buffer.from('00000000-0000-7000-8000-000000000000');
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  let lastMs = -1;
  return () => {
    const ms = clock.now();
    if (ms !== lastMs) {
      lastMs = ms;
      const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0').slice(-12);
      text.write(`${hex.slice(0, 8)}-${hex.slice(8)}`, 'latin1');
    }
    if (used + RANDOM_BYTES > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    // The variant is binary 10: one of 8, 9, a, b.
    text[VARIANT_AT] = HEX[8 + ((pool[used++] ?? 0) & 3)] ?? 0;
    for (let at = 0; at < DIGITS_AT.length; at += 2) {
      const byte = pool[used++] ?? 0;
      text[DIGITS_AT[at] ?? 0] = HEX[byte >> 4] ?? 0;
      text[DIGITS_AT[at + 1] ?? 0] = HEX[byte & 15] ?? 0;
    }
    return text.toString('latin1');
  };
}

/** A short random text of letters and digits, for ids of workers and lease requests. */
export function randomName(): string {
  return randomBytes(8).toString('hex');
}
