/** The screens, in the order of the list, and who sees which. */
import type { IconName } from '../parts/icon.tsx';
import { has, isLimited } from '../state/session.ts';

/** A screen. */
export interface Place {
  readonly key: string;
  readonly title: string;
  readonly icon: IconName;
  /** After `g`. */
  readonly letter: string;
  /** Of everybody together: not for those who see some users alone. */
  readonly isOfAll?: true;
  /** Shown where the server has it. */
  readonly needs?: string;
}

const PLACES: readonly Place[] = [
  { key: 'overview', title: 'Overview', icon: 'overview', letter: 'o', isOfAll: true },
  { key: 'users', title: 'Users', icon: 'users', letter: 'u' },
  { key: 'queues', title: 'Queues', icon: 'queues', letter: 'q', isOfAll: true },
  { key: 'tasks', title: 'Tasks', icon: 'tasks', letter: 't' },
  { key: 'runs', title: 'Runs', icon: 'runs', letter: 'r' },
  { key: 'dead', title: 'Dead letters', icon: 'dead', letter: 'd' },
  { key: 'schedules', title: 'Schedules', icon: 'schedules', letter: 's' },
  { key: 'workers', title: 'Workers', icon: 'workers', letter: 'w', isOfAll: true },
  { key: 'asks', title: 'Approvals', icon: 'asks', letter: 'a' },
  { key: 'bulk', title: 'Bulk', icon: 'bulk', letter: 'b', needs: 'bulk', isOfAll: true },
  { key: 'audit', title: 'Audit', icon: 'audit', letter: 'l', isOfAll: true },
];

/** Those that the user of the page may go to. */
export function placesHere(): readonly Place[] {
  return PLACES.filter(
    ({ isOfAll, needs }) =>
      !(isOfAll === true && isLimited.value) && (needs === undefined || has(needs)),
  );
}

/** One of them. */
export function placeOf(key: string): Place | undefined {
  return placesHere().find((one) => one.key === key);
}
