/** The server's clock: ages are counted on it, and not on the clock of this computer. */
import { computed, signal } from '@preact/signals';

const TICK_MS = 1_000;
/** A second is all that the header `Date` knows, so less than that is no reason to correct. */
const COARSE_MS = 1_500;

const skewMs = signal(0);
const ticks = signal(Date.now());
/** The last reading stays dated: while nothing comes, ages do not go on. */
const stopped = signal<number | undefined>(undefined);
let isExact = false;

setInterval(() => {
  if (!document.hidden) ticks.value = Date.now();
}, TICK_MS);

/** The server's moment of now, by the second. */
export const now = computed(() => stopped.value ?? ticks.value + skewMs.value);

/** A moment that the server has just said, to the millisecond. */
export function takeMoment(at: number): void {
  isExact = true;
  skewMs.value = at - Date.now();
  ticks.value = Date.now();
}

/** A moment out of a header, to the second; an exact one goes before it. */
export function takeDate(at: number): void {
  const skew = at - Date.now();
  if (!isExact && Math.abs(skew - skewMs.value) > COARSE_MS) skewMs.value = skew;
}

/** Ages stand still from now on. */
export function stopClock(): void {
  stopped.value ??= now.peek();
}

/** They go on. */
export function startClock(): void {
  stopped.value = undefined;
}
