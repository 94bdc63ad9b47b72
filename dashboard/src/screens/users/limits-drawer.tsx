/** Weight and limits of a user, changed with their effect before it is made. */
import type { VNode } from 'preact';
import { changeUser } from '../../api/setting-actions.ts';
import type { Texts } from '../../api/setting-changes.ts';
import type { UserRow } from '../../api/shapes.ts';
import { LimitEffect } from '../../parts/limit-effect.tsx';
import { type SettingField, SettingsDrawer } from '../../parts/settings-drawer.tsx';
import * as written from '../../words/settings.ts';
import { ORIGIN_TEXTS } from './limits.ts';
import { WeightImpact } from './weight-impact.tsx';

interface LimitsDrawerProps {
  readonly row: UserRow;
  readonly onClose: () => void;
}

/** A field left empty is reset: then the setting of the queue holds, or the default. */
export function LimitsDrawer({ row, onClose }: LimitsDrawerProps): VNode {
  const before = textsOf(row);
  return (
    <SettingsDrawer
      title={`Weight and limits of ${row.user}`}
      note="An empty field takes back what was said of this user in this queue."
      fields={fieldsOf(row)}
      before={before}
      actionOf={(after) => changeUser(row.user, row.queue, before, after)}
      effect={(after) => (
        <>
          <WeightImpact row={row} weight={Number(after['weight']) || 1} />
          <LimitEffect running={row.running} queued={row.queued} after={after} />
        </>
      )}
      onClose={onClose}
    />
  );
}

function fieldsOf({ origins }: UserRow): readonly SettingField[] {
  return [
    {
      key: 'weight',
      label: 'Weight',
      hint: `Its claim on turns beside those of others. Now ${ORIGIN_TEXTS[origins.weight]}.`,
      check: written.weight,
    },
    {
      key: 'maxRunning',
      label: 'Running at once, at most',
      hint: ORIGIN_TEXTS[origins.maxRunning],
      check: written.countFrom(1),
    },
    {
      key: 'maxQueued',
      label: 'Waiting at once, at most',
      hint: ORIGIN_TEXTS[origins.maxQueued],
      check: written.countFrom(1),
    },
    {
      key: 'rate',
      label: 'Rate',
      hint: 'As 100/1m, or 100/1m/20 with a burst of 20.',
      check: written.rate,
    },
  ];
}

function textsOf({ settings: { weight, maxRunning, maxQueued, rate } }: UserRow): Texts {
  return {
    weight: String(weight),
    maxRunning: written.numberWord(maxRunning),
    maxQueued: written.numberWord(maxQueued),
    rate: written.rateWord(rate),
  };
}
