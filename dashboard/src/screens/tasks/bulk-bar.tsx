/** What can be done with those that are picked, or with all that match: one object that workers carry out. */
import type { VNode } from 'preact';
import { startBulk } from '../../api/bulk-actions.ts';
import type { BulkAction } from '../../api/shapes.ts';
import { ActionButton } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { has } from '../../state/session.ts';
import { countText } from '../../words/numbers.ts';
import { valueText } from '../../words/where.ts';

interface BulkBarProps {
  readonly where: string;
  readonly ids: ReadonlySet<string>;
  readonly clear: () => void;
}

const ACTIONS: readonly BulkAction[] = ['redrive', 'run-now', 'cancel', 'remove'];

/** Absent where the server has no bulk actions. */
export function BulkBar({ where, ids, clear }: BulkBarProps): VNode | null {
  if (!has('bulk')) return null;
  const picked = ids.size > 0;
  const about = picked ? `id:${[...ids].map(valueText).join(',')}` : where;
  return (
    <div class={picked ? 'bulk-bar' : 'bulk-bar is-all'}>
      <b>{picked ? `${countText(ids.size)} picked` : 'All that match'}</b>
      {picked ? (
        <Button small={true} kind="quiet" icon="close" onPress={clear}>
          Pick none
        </Button>
      ) : null}
      <span class="push line wrap">
        {ACTIONS.map((action) => (
          <ActionButton
            key={action}
            small={true}
            {...(action === 'cancel' || action === 'remove' ? { kind: 'danger' as const } : {})}
            action={startBulk(action, about, picked ? ids.size : undefined)}
          />
        ))}
      </span>
    </div>
  );
}
