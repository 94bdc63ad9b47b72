/** How settings of a user are shown: each with where it comes from. */

import type { UserStatus } from '../../client/facades/user-facade.ts';
import type { SettingOrigins } from '../../domain/fairness/settings.ts';
import { shownLength } from '../terminal/moments.ts';

type Shown = Pick<UserStatus, 'settings' | 'origins'>;

/** What each is called, and how its value is written. */
const SETTINGS: readonly {
  readonly field: keyof SettingOrigins;
  readonly title: string;
  readonly value: (settings: UserStatus['settings']) => string;
}[] = [
  { field: 'weight', title: 'weight', value: ({ weight }) => String(weight) },
  { field: 'maxRunning', title: 'max running', value: ({ maxRunning }) => count(maxRunning) },
  { field: 'maxQueued', title: 'max queued', value: ({ maxQueued }) => count(maxQueued) },
  { field: 'rate', title: 'rate', value: ({ rate }) => rateText(rate) || '–' },
  { field: 'paused', title: 'paused', value: ({ paused }) => (paused === true ? 'yes' : 'no') },
];

/** Every setting as a field, as `weight` and `3 (user)`. */
export function settingFields(user: Shown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    SETTINGS.map(({ field, title, value }) => [
      title,
      `${value(user.settings)} (${originText(user, field)})`,
    ]),
  );
}

/** Those that are not at their default, in one cell: `weight 3 (user), max queued 9 (queue)`. */
export function settingsCell(user: Shown): string {
  const said = SETTINGS.filter(({ field }) => user.origins[field] !== 'built-in');
  return said
    .map(
      ({ field, title, value }) => `${title} ${value(user.settings)} (${originText(user, field)})`,
    )
    .join(', ');
}

function rateText(
  rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | undefined,
): string {
  return rate === undefined ? '' : `${rate.limit}/${shownLength(rate.perMs)}/${rate.burst}`;
}

function originText({ origins }: Shown, field: keyof SettingOrigins): string {
  return origins[field].replaceAll('-', ' ');
}

function count(value: number | undefined): string {
  return value === undefined ? '–' : String(value);
}
