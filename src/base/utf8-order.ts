/**
 * Compares two strings as Redis orders the members of a sorted set: by their UTF-8 bytes, which is
 * by code point. (JavaScript's `<` compares UTF-16 units and differs beyond the BMP.)
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above every BMP character, so they rank after U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
