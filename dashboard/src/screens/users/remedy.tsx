/** What would help a user that is held back. */
import type { VNode } from 'preact';
import type { UserRow } from '../../api/shapes.ts';
import { resumeUser } from '../../api/user-actions.ts';
import { ActionButton } from '../../parts/action.tsx';
import type { IconName } from '../../parts/icon.tsx';
import { linkTo } from '../../state/address.ts';

/** The symbol beside `why`. */
export function reasonIcon({ settings, running, ready, queued }: UserRow): IconName {
  if (queued === 0) return 'idle';
  if (ready) return 'line';
  if (settings.paused === true) return 'paused';
  if (settings.maxRunning !== undefined && running >= settings.maxRunning) return 'limit';
  return settings.rate === undefined ? 'lost' : 'rate';
}

/** One step: resume what is paused, change what limits, or look closer. */
export function Remedy({ row }: { readonly row: UserRow }): VNode {
  const { user, queue, settings } = row;
  if (settings.paused === true) {
    return <ActionButton small={true} kind="quiet" action={resumeUser(user, queue)} />;
  }
  const isLimit = reasonIcon(row) === 'limit' || reasonIcon(row) === 'rate';
  return (
    <a
      class="fix nowrap"
      href={linkTo('users', user, { queue, drawer: isLimit ? 'limits' : undefined })}
    >
      {isLimit ? 'Change' : 'Look'}
    </a>
  );
}
