/** What can be done with those that are picked: one object that workers carry out. */
import type { VNode } from 'preact';
import { startBulk } from '../../api/bulk-actions.ts';
import type { BulkAction } from '../../api/shapes.ts';
import { ActionButton } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../words/numbers.ts';
import { valueText } from '../../words/where.ts';

/** Single ones, or all that match but for single ones. */
export interface Picked {
  readonly isAll: boolean;
  readonly ids: ReadonlySet<string>;
}

/** None. */
export const NONE_PICKED: Picked = { isAll: false, ids: new Set() };

interface BulkBarProps {
  readonly where: string;
  /** How many match, as far as that is known. */
  readonly all: string;
  readonly picked: Picked;
  readonly pick: (next: Picked) => void;
}

const ACTIONS: readonly BulkAction[] = ['redrive', 'run-now', 'cancel', 'remove'];

/** Nothing can be done until something is picked, so that not all is changed by mistake. */
export function BulkBar({ where, all, picked, pick }: BulkBarProps): VNode {
  const { isAll, ids } = picked;
  const isAny = isAll || ids.size > 0;
  return (
    <div class={isAny ? 'bulk-bar' : 'bulk-bar is-none'}>
      <b role="status">{isAny ? pickedWords(picked, all) : 'None picked'}</b>
      {isAll ? null : (
        <Button
          small={true}
          kind="quiet"
          shortcut="⇧A"
          onPress={() => pick({ isAll: true, ids: new Set() })}
        >
          {`Pick all that match: ${all}`}
        </Button>
      )}
      {isAny ? (
        <Button small={true} kind="quiet" icon="close" onPress={() => pick(NONE_PICKED)}>
          Pick none
        </Button>
      ) : null}
      {isAny ? (
        <span class="push line wrap">
          {ACTIONS.map((action) => (
            <ActionButton
              key={action}
              small={true}
              {...(action === 'cancel' || action === 'remove' ? { kind: 'danger' as const } : {})}
              action={startBulk(
                action,
                whereOf(where, picked),
                isAll ? pickedWords(picked, all) : ids.size,
              )}
            />
          ))}
        </span>
      ) : null}
    </div>
  );
}

function pickedWords({ isAll, ids }: Picked, all: string): string {
  if (!isAll) return `${countText(ids.size)} picked`;
  return ids.size === 0
    ? `all that match, ${all}`
    : `all that match, ${all}, but for ${countText(ids.size)}`;
}

/** A row that was left out is a word of the filter more. */
function whereOf(where: string, { isAll, ids }: Picked): string {
  const list = `id:${[...ids].map(valueText).join(',')}`;
  if (!isAll) return list;
  return ids.size === 0 ? where : `${where} -${list}`;
}
