const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** A character for each value, as high as the value is beside the greatest of them; 0 is a blank. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(0, ...values);
  return values
    .map((value) => (value <= 0 ? ' ' : BARS[Math.ceil((value / most) * BARS.length) - 1]))
    .join('');
}
