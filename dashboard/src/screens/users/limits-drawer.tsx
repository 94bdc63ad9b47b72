/** Weight and limits of a user, changed with their effect before it is made. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { UserRow } from '../../api/shapes.ts';
import { changeUser, type UserChange } from '../../api/user-actions.ts';
import { ActionButton } from '../../parts/action.tsx';
import { CommandLine } from '../../parts/command-line.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { ORIGIN_TEXTS } from './limits.ts';
import { WeightImpact } from './weight-impact.tsx';

interface LimitsDrawerProps {
  readonly row: UserRow;
  readonly onClose: () => void;
}

type Texts = Readonly<Record<'maxQueued' | 'maxRunning' | 'rate' | 'weight', string>>;

/** What is left empty is taken back: then the queue says it, or nobody. */
export function LimitsDrawer({ row, onClose }: LimitsDrawerProps): VNode {
  const [texts, setTexts] = useState(textsOf(row));
  const before = textsOf(row);
  const change = changeOf(before, texts);
  const action = changeUser(row.user, row.queue, change);
  const set = (key: keyof Texts) => (text: string) => setTexts({ ...texts, [key]: text });
  const weight = Number(texts.weight);
  const isChanged = Object.keys(change).length > 0;
  return (
    <Dialog title={`Weight and limits of ${row.user}`} kind="drawer" onClose={onClose}>
      <div class="body">
        <Field
          label="Weight"
          hint={`Its claim on turns beside those of others. Now ${ORIGIN_TEXTS[row.origins.weight]}.`}
          value={texts.weight}
          onInput={set('weight')}
        />
        {weight > 0 ? <WeightImpact row={row} weight={weight} /> : null}
        <Field
          label="Running at once, at most"
          hint={ORIGIN_TEXTS[row.origins.maxRunning]}
          value={texts.maxRunning}
          onInput={set('maxRunning')}
        />
        <Field
          label="Waiting at once, at most"
          hint={ORIGIN_TEXTS[row.origins.maxQueued]}
          value={texts.maxQueued}
          onInput={set('maxQueued')}
        />
        <Field
          label="Rate"
          hint="As 100/1m, or 100/1m/20 with a burst of 20."
          value={texts.rate}
          onInput={set('rate')}
        />
        <p class="dim small">An empty field takes back what was said of this user in this queue.</p>
        {isChanged ? <CommandLine text={action.command} wide={true} /> : null}
      </div>
      <footer class="foot">
        {isChanged ? (
          <ActionButton action={action} kind="first" />
        ) : (
          <span class="dim">Nothing is changed yet.</span>
        )}
      </footer>
    </Dialog>
  );
}

function textsOf({ settings: { weight, maxRunning, maxQueued, rate } }: UserRow): Texts {
  return {
    weight: String(weight),
    maxRunning: maxRunning === undefined ? '' : String(maxRunning),
    maxQueued: maxQueued === undefined ? '' : String(maxQueued),
    rate: rate === undefined ? '' : `${rate.limit}/${rate.perMs}ms/${rate.burst}`,
  };
}

/** What differs, as the API takes it. */
function changeOf(before: Texts, after: Texts): UserChange {
  const differs = (key: keyof Texts): boolean => before[key] !== after[key].trim();
  const numberOf = (text: string): number | 'default' =>
    text.trim() === '' ? 'default' : Number(text);
  return {
    ...(differs('weight') ? { weight: numberOf(after.weight) } : {}),
    ...(differs('maxRunning') ? { maxRunning: numberOf(after.maxRunning) } : {}),
    ...(differs('maxQueued') ? { maxQueued: numberOf(after.maxQueued) } : {}),
    ...(differs('rate') ? { rate: after.rate.trim() === '' ? 'default' : after.rate.trim() } : {}),
  };
}
