/** Filters with a name: each is a link, and can be forgotten. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/panel.tsx';
import { linkTo } from '../../state/address.ts';
import { close, open, say } from '../../state/overlay.ts';
import { forgetView, type SavedView, saveView, VIEW_BOUNDS, views } from '../../state/views.ts';

/** All of them; nothing where there are none. */
export function SavedViews({ where }: { readonly where: string }): VNode | null {
  if (views.value.length === 0) return null;
  return (
    <ul class="line wrap views" aria-label="Saved views">
      {views.value.map((view) => (
        <ViewItem key={view.name} view={view} isHere={view.where === where} />
      ))}
    </ul>
  );
}

/** Gives the filter of now a name. */
export function SaveViewButton({ where }: { readonly where: string }): VNode {
  return (
    <Button small={true} shortcut="v" onPress={() => open({ kind: 'save-view', where })}>
      Save view…
    </Button>
  );
}

function ViewItem({ view: { name, where }, isHere }: ViewItemProps): VNode {
  return (
    <li class="word">
      <a
        class="v cut"
        href={linkTo('tasks', undefined, { where })}
        title={where}
        aria-current={isHere ? 'true' : undefined}
      >
        {name}
      </a>
      <button
        type="button"
        aria-label={`Forget the view ${name}`}
        onClick={() => {
          forgetView(name);
          say(`Forgot ${name}`);
        }}
      >
        <Icon name="close" size={12} />
      </button>
    </li>
  );
}

interface ViewItemProps {
  readonly view: SavedView;
  readonly isHere: boolean;
}

/** What it is called. */
export function SaveViewDialog({ where }: { readonly where: string }): VNode {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const isThere = views.value.some((one) => one.name === name.trim());
  return (
    <Dialog title="Save this view" onClose={close}>
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          const failed = saveView(name, where);
          setProblem(failed);
          if (failed !== undefined) return;
          close();
          say(`Saved ${name.trim()}`);
        }}
      >
        <p>
          <code>{where}</code> gets a name, in this browser alone: here, and where ⌘K goes. To share
          it, send the address.
        </p>
        <Field
          label="Name"
          hint={`Up to ${VIEW_BOUNDS.name} characters.`}
          value={name}
          onInput={setName}
        />
        {problem === undefined ? null : <Note tone="bad">{problem}</Note>}
        <div class="line wrap">
          <Button kind="first" submits={true}>
            {isThere ? 'Save in its place' : 'Save'}
          </Button>
          <Button kind="quiet" onPress={close}>
            Leave it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
