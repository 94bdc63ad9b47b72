/** Texts of moments and durations in explanations. */

/** A moment, to the second, in UTC. */
export function time(ms: number): string {
  const moment = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    timeZone: 'UTC',
  });
  return `${moment.format(ms).replace(' ', 'T')}Z`;
}

/** A duration in words. */
export function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 120) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
