/** Which users are shown, as the address says. */
import type { VNode } from 'preact';
import { type Choice, Segments } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { linkHere, lookBy } from '../../state/address.ts';

/** Where a user stands. */
export type UserGroup = 'held' | 'idle' | 'line';

interface UserFilterProps {
  readonly counts: Readonly<Record<UserGroup | 'all', number>>;
  readonly only: string;
  readonly text: string;
}

/** By where they stand, and by a part of the name. */
export function UserFilter({ counts, only, text }: UserFilterProps): VNode {
  const choice = (key: UserGroup | 'all', title: string): Choice => {
    const value = key === 'all' ? undefined : key;
    return { key, text: `${title} `, count: counts[key], href: linkHere({ only: value }) };
  };
  return (
    <>
      <Segments
        label="Which users"
        chosen={only}
        choices={[
          choice('all', 'All'),
          choice('line', 'In line'),
          choice('held', 'Held back'),
          choice('idle', 'Idle'),
        ]}
      />
      <span class="find">
        <Icon name="search" />
        <input
          class="input"
          type="search"
          data-filter={true}
          aria-label="A part of the name of a user"
          placeholder="user, or part of it"
          value={text}
          onInput={({ currentTarget }) => lookBy({ user: currentTarget.value })}
        />
      </span>
    </>
  );
}
