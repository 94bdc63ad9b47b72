/** Settings of a user, each with where it comes from. */
import type { UserRow } from '../../api/shapes.ts';
import { lengthText } from '../../words/lengths.ts';
import { countText } from '../../words/numbers.ts';

type Origin = UserRow['origins']['weight'];

/** Where a value comes from, as people say it. */
export const ORIGIN_TEXTS: Readonly<Record<Origin, string>> = {
  'built-in': 'default',
  queue: 'of the queue',
  user: 'of the user, in all queues',
  'user-in-queue': 'of the user, in this queue',
};

/** All of them. */
export function limitFacts(row: UserRow): readonly (readonly [name: string, value: string])[] {
  const { settings, origins } = row;
  const { weight, maxRunning, maxQueued, rate, paused } = settings;
  const say = (value: string, origin: Origin): string => `${value} · ${ORIGIN_TEXTS[origin]}`;
  const most = (value: number | undefined): string =>
    value === undefined ? 'no limit' : countText(value);
  return [
    ['Weight', say(countText(weight), origins.weight)],
    ['Running at once', say(most(maxRunning), origins.maxRunning)],
    ['Waiting at once', say(most(maxQueued), origins.maxQueued)],
    ['Rate', say(rate === undefined ? 'no limit' : rateWords(rate), origins.rate)],
    ['Paused', say(paused === true ? 'yes' : 'no', origins.paused)],
  ];
}

/** As the command line takes it, with a unit that people read. */
function rateWords({ limit, perMs, burst }: NonNullable<UserRow['settings']['rate']>): string {
  const bursts = burst > 1 ? `, ${countText(burst)} at once` : '';
  return `${countText(limit)} per ${lengthText(perMs)}${bursts}`;
}
