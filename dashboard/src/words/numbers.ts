/** Numbers, as people read them. */

/** `91,204`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `21.8 %`. */
export function percentText(part: number): string {
  return `${(part * 100).toFixed(1)}\u202f%`;
}

/** `+0.63`, with a minus as wide as the plus. */
export function signedText(value: number): string {
  if (Math.abs(value) < 0.005) return '0.00';
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}

/** `1 task`, `2 tasks`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `41.2`, or `1,204` where decimals say nothing. */
export function rateText(value: number): string {
  return value < 100 ? value.toFixed(1) : countText(Math.round(value));
}
