/** Limits and settings of a queue, changed with their effect before it is made. */
import type { VNode } from 'preact';
import { changeQueue } from '../../api/setting-actions.ts';
import type { Texts } from '../../api/setting-changes.ts';
import type { QueueStatus } from '../../api/shapes.ts';
import { LimitEffect } from '../../parts/limit-effect.tsx';
import { type SettingField, SettingsDrawer } from '../../parts/settings-drawer.tsx';
import * as written from '../../words/settings.ts';

const FIELDS: readonly SettingField[] = [
  {
    key: 'maxRunning',
    label: 'Running at once, at most',
    hint: 'Of all its users together.',
    check: written.countFrom(1),
  },
  {
    key: 'rate',
    label: 'Rate',
    hint: 'Starts per time, as 100/1m, or 100/1m/20 with a burst of 20.',
    check: written.rate,
  },
  {
    key: 'charge',
    label: 'What a turn costs',
    hint: 'task: the cost of the task; time: how long it runs.',
    check: written.oneOf('task', 'time'),
  },
  {
    key: 'priorityWeights',
    label: 'Turns of the priorities 1 to 5',
    hint: 'As 1,2,4,8,16.',
    check: written.fiveTurns,
  },
  {
    key: 'criticalBurst',
    label: 'Critical turns, then one normal',
    hint: 'Empty: critical ones are always first.',
    check: written.countFrom(1),
  },
  {
    key: 'retries',
    label: 'Attempts after the first',
    hint: 'Of tasks that say nothing of it.',
    check: written.countFrom(0),
  },
  {
    key: 'timeout',
    label: 'Time of one attempt',
    hint: 'As 30s, or none; of tasks that say nothing of it.',
    check: written.lengthOrNone,
  },
  {
    key: 'lease',
    label: 'A worker may be silent for',
    hint: 'As 30s; less than the time of one attempt.',
    check: written.length,
  },
  {
    key: 'userWeight',
    label: 'Weight of users without settings of their own',
    hint: 'These four are replaced together.',
    check: written.weight,
  },
  {
    key: 'userMaxRunning',
    label: 'Running at once of such a user',
    hint: '',
    check: written.countFrom(1),
  },
  {
    key: 'userMaxQueued',
    label: 'Waiting at once of such a user',
    hint: '',
    check: written.countFrom(1),
  },
  { key: 'userRate', label: 'Rate of such a user', hint: 'As 100/1m.', check: written.rate },
];

interface QueueDrawerProps {
  readonly queue: QueueStatus;
  readonly onClose: () => void;
}

/** What is left empty is taken back. */
export function QueueDrawer({ queue, onClose }: QueueDrawerProps): VNode {
  const { counts } = queue;
  const before = textsOf(queue);
  return (
    <SettingsDrawer
      title={`Limits of ${queue.queue}`}
      note="An empty field takes back what was said of this queue."
      fields={FIELDS}
      before={before}
      actionOf={(after) => changeQueue(queue.queue, before, after)}
      effect={({ maxRunning = '', rate = '' }) => (
        <LimitEffect running={counts.started} queued={counts.queued} after={{ maxRunning, rate }} />
      )}
      onClose={onClose}
    />
  );
}

function textsOf({ settings }: QueueStatus): Texts {
  const { maxRunning, rate, charge, priorityWeights, criticalBurst, retries } = settings;
  const { timeoutMs, leaseMs, perUser } = settings;
  return {
    maxRunning: written.numberWord(maxRunning),
    rate: written.rateWord(rate),
    charge: charge ?? '',
    priorityWeights: priorityWeights?.join(',') ?? '',
    criticalBurst: written.numberWord(criticalBurst),
    retries: written.numberWord(retries),
    timeout: timeoutMs === 0 ? 'none' : written.lengthWord(timeoutMs),
    lease: written.lengthWord(leaseMs),
    userWeight: written.numberWord(perUser?.weight),
    userMaxRunning: written.numberWord(perUser?.maxRunning),
    userMaxQueued: written.numberWord(perUser?.maxQueued),
    userRate: written.rateWord(perUser?.rate),
  };
}
