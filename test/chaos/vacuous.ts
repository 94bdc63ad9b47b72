/** Of the kills, this share must have met work in hand; otherwise a programme proves nothing. */
const LEAST_HIT = 0.3;

/** Whether so few kills met work that it is no chance: by more than two standard deviations. */
export function isVacuous(hit: number, kills: number): boolean {
  const deviation = Math.sqrt(kills * LEAST_HIT * (1 - LEAST_HIT));
  return hit < LEAST_HIT * kills - 2 * deviation || (kills > 0 && hit === 0);
}
