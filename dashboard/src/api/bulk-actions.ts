/** Actions on many tasks at once: stored as objects, which workers carry out. */

import type { IconName } from '../parts/icon.tsx';
import { commandAbout, commandText } from '../words/commands.ts';
import { type Action, callPath } from './actions.ts';
import type { BulkAction } from './shapes.ts';

const WORDS: Readonly<Record<BulkAction, readonly [name: string, icon: IconName, about: string]>> =
  {
    redrive: ['Redrive', 'again', 'go back to the end of their lines, with fresh attempts'],
    cancel: ['Cancel', 'canceled', 'end as canceled; running ones are asked to stop'],
    remove: ['Remove', 'close', 'go for good, where they have ended'],
    'run-now': ['Run now', 'play', 'are due at once'],
  };

/** Of those that match when it is started: a count, or words where the count is not known. */
export function startBulk(action: BulkAction, where: string, count?: number | string): Action {
  const [name, icon, about] = WORDS[action];
  const started: Action = {
    name,
    icon,
    about: `Those that match ${where} ${about}. Workers do it in steps; the order and the limits of each user hold, and it can be stopped.`,
    needs: 'bulk',
    method: 'POST',
    path: 'bulk',
    body: { where, action },
    command: commandText('bulk', 'start', action, '--where', where),
    isDestructive: action === 'cancel' || action === 'remove',
    count: typeof count === 'number' ? count : Number.POSITIVE_INFINITY,
    ...(typeof count === 'string' ? { howMany: count } : {}),
    hasRate: true,
    leads: ({ id = '' }) => `#/bulk/${encodeURIComponent(id)}`,
  };
  const dryRun: Action = {
    ...started,
    name: 'Count first',
    body: { where, action, dryRun: true },
    command: `${started.command} --dry-run`,
  };
  return { ...started, dryRun };
}

/** Stops it where it is; what is done stays done. */
export function cancelBulk(id: string): Action {
  return {
    name: 'Stop',
    icon: 'canceled',
    about: 'It stops where it is. What is done stays done.',
    needs: 'bulk',
    method: 'POST',
    path: callPath('bulk', id, 'cancel'),
    command: commandAbout(id, 'bulk', 'cancel'),
  };
}
