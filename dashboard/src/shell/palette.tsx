/** Anything by name: screens, saved views, and what has the id that was typed. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { goTo, linkTo } from '../state/address.ts';
import { close } from '../state/overlay.ts';
import { views } from '../state/views.ts';
import { placesHere } from './places.ts';

interface Target {
  readonly key: string;
  readonly text: string;
  readonly icon: IconName;
  readonly href: string;
  readonly kind: string;
}

/** A line to type into, and where it may lead. */
export function Palette(): VNode {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const targets = targetsOf(text.trim());
  const chosen = targets[Math.min(at, targets.length - 1)];
  const leave = (target: Target | undefined): void => {
    close();
    if (target !== undefined) goTo(target.href);
  };
  return (
    <Dialog title="Go to" kind="palette" onClose={close}>
      <div class="ask">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="targets"
          aria-activedescendant={chosen === undefined ? undefined : `target-${chosen.key}`}
          aria-label="Screen, or an id"
          placeholder="Screen, or the id of a task, run or user"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') setAt(Math.min(at + 1, targets.length - 1));
            else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
            else if (event.key === 'Enter') leave(chosen);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <TargetList targets={targets} chosen={chosen} onLeave={leave} />
    </Dialog>
  );
}

interface TargetListProps {
  readonly targets: readonly Target[];
  readonly chosen: Target | undefined;
  readonly onLeave: (target: Target) => void;
}

function TargetList({ targets, chosen, onLeave }: TargetListProps): VNode {
  return (
    <div id="targets" role="listbox" aria-label="Where to" class="targets">
      {targets.map((target) => (
        <div
          key={target.key}
          id={`target-${target.key}`}
          role="option"
          tabIndex={-1}
          aria-selected={target.key === chosen?.key}
          onClick={() => onLeave(target)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onLeave(target);
          }}
        >
          <Icon name={target.icon} />
          <span class="cut">{target.text}</span>
          <span class="dim small push">{target.kind}</span>
        </div>
      ))}
    </div>
  );
}

function targetsOf(text: string): readonly Target[] {
  const places = placesHere()
    .filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
    .map(({ key, title, icon, letter }): Target => {
      return { key, text: title, icon, href: linkTo(key), kind: `g ${letter}` };
    });
  const saved = views.value
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .map(({ name, where }, at): Target => {
      const href = linkTo('tasks', undefined, { where });
      return { key: `view-${at}`, text: name, icon: 'tasks', href, kind: 'saved view' };
    });
  if (text === '') return [...places, ...saved];
  const byId = (key: string, icon: IconName, kind: string): Target => {
    return { key: `${key}-id`, text, icon, href: linkTo(key, text), kind };
  };
  return [
    ...places,
    ...saved,
    byId('tasks', 'tasks', 'the task of this id'),
    byId('runs', 'runs', 'the run of this id'),
    byId('users', 'users', 'the user of this name'),
    {
      key: 'where',
      text,
      icon: 'search',
      href: linkTo('tasks', undefined, { where: text }),
      kind: 'tasks that match',
    },
  ];
}
