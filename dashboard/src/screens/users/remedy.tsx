/** Why a user takes turns or does not, and what would help one that is held back. */
import type { VNode } from 'preact';
import type { UserRow } from '../../api/shapes.ts';
import { resumeUser } from '../../api/user-actions.ts';
import { ActionButton } from '../../parts/action.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { linkTo } from '../../state/address.ts';
import { may } from '../../state/session.ts';

/** The symbol beside `why`. */
export function reasonIcon({ settings, running, ready, queued }: UserRow): IconName {
  if (queued === 0) return 'idle';
  if (ready) return 'line';
  if (settings.paused === true) return 'paused';
  if (settings.maxRunning !== undefined && running >= settings.maxRunning) return 'limit';
  return settings.rate === undefined ? 'lost' : 'rate';
}

/** It has work, and takes no turns. */
export function isHeld({ ready, queued }: UserRow): boolean {
  return !ready && queued > 0;
}

/** In the words of the server; what holds one back is a warning. */
export function WhyText({ row }: { readonly row: UserRow }): VNode {
  return (
    <span class={isHeld(row) ? 'state t-warn' : 'state dim'}>
      <Icon name={reasonIcon(row)} />
      <span>{row.why}</span>
    </span>
  );
}

/** One step: resume what is paused, change what limits, or look closer. */
export function Remedy({ row }: { readonly row: UserRow }): VNode {
  const { user, queue, settings } = row;
  if (settings.paused === true) {
    return <ActionButton small={true} kind="quiet" action={resumeUser(user, queue)} />;
  }
  const isLimit = may('configure') && ['limit', 'rate'].includes(reasonIcon(row));
  return (
    <a
      class="fix nowrap"
      href={linkTo('users', user, { queue, drawer: isLimit ? 'limits' : undefined })}
    >
      {isLimit ? 'Change' : 'Look'}
    </a>
  );
}
