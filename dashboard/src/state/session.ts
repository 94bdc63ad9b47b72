/** Who looks, what it may do, and what this server has. */
import { computed, signal } from '@preact/signals';
import { Problem, read } from '../api/http.ts';
import type { About, Capability } from '../api/shapes.ts';
import { away } from './readings.ts';

const RETRY_MS = 1_000;

/** What the server says of itself; `undefined` until it has. */
export const about = signal<About | undefined>(undefined);
/** Its refusal: it wants a token, or forbids access. */
export const refused = signal<Problem | undefined>(undefined);
/** The user of the page sees some users alone. */
export const isLimited = computed(() => about.value?.users !== undefined);
/** Nothing can be changed. */
export const isReadOnly = computed(
  () => about.value?.can.every((what) => what === 'read') === true,
);

/** Asks until the server answers. */
export async function begin(): Promise<void> {
  try {
    about.value = await read<About>('');
    refused.value = undefined;
    away.value = undefined;
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem(0, String(error));
    if (problem.status === 401 || problem.status === 403) {
      refused.value = problem;
      return;
    }
    away.value = problem;
    setTimeout(() => void begin(), RETRY_MS);
  }
}

/** Whether the user of the page may do this. */
export function may(what: Capability): boolean {
  return about.value?.can.includes(what) === true;
}

/** Whether this server has it. */
export function has(feature: string): boolean {
  return about.value?.features.includes(feature) === true;
}
