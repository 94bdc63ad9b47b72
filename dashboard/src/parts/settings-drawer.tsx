/** A form of settings at the side, with what is wrong at its place, the effect, and the command. */
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Action } from '../api/actions.ts';
import type { Texts } from '../api/setting-changes.ts';
import type { Check } from '../words/settings.ts';
import { ActionButton } from './action.tsx';
import { CommandLine } from './command-line.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';

/** One line of the form. */
export interface SettingField {
  readonly key: string;
  readonly label: string;
  readonly hint: string;
  readonly check: Check;
}

interface SettingsDrawerProps {
  readonly title: string;
  /** What an empty field means. */
  readonly note: string;
  readonly fields: readonly SettingField[];
  /** As it is in force. */
  readonly before: Texts;
  readonly actionOf: (after: Texts) => Action;
  /** What would follow of what is written now. */
  readonly effect: (after: Texts) => ComponentChildren;
  readonly onClose: () => void;
}

/** Nothing is sent before it was shown what that does. */
export function SettingsDrawer(props: SettingsDrawerProps): VNode {
  const { title, note, fields, before, actionOf, effect, onClose } = props;
  const [after, setAfter] = useState<Texts>(before);
  const textOf = (key: string): string => after[key] ?? '';
  const problemOf = ({ key, check }: SettingField): string | undefined => {
    const text = textOf(key).trim();
    return text === '' || text === before[key] ? undefined : check(text);
  };
  const isWrong = fields.some((field) => problemOf(field) !== undefined);
  const isChanged = fields.some(({ key }) => textOf(key).trim() !== (before[key] ?? ''));
  const action = isChanged && !isWrong ? actionOf(after) : undefined;
  return (
    <Dialog title={title} kind="drawer" onClose={onClose}>
      <div class="body">
        {fields.map((field) => (
          <Field
            key={field.key}
            label={field.label}
            hint={field.hint}
            value={textOf(field.key)}
            problem={problemOf(field)}
            onInput={(text) => setAfter({ ...after, [field.key]: text })}
          />
        ))}
        <div aria-live="polite">{isWrong ? null : effect(after)}</div>
        <p class="dim small">{note}</p>
        {action === undefined ? null : <CommandLine text={action.command} wide={true} />}
      </div>
      <footer class="foot">
        {action === undefined ? (
          <span class="dim">{isWrong ? 'Not all of it is right.' : 'Nothing is changed yet.'}</span>
        ) : (
          <ActionButton action={action} kind="first" />
        )}
      </footer>
    </Dialog>
  );
}
