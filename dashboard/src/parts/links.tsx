/** What tables and heads of several screens say alike: whose it is, what it is called, what it threw. */
import type { VNode } from 'preact';
import { shownTask } from '../../../src/domain/task/node-name.ts';
import type { TaskError } from '../api/shapes.ts';
import { linkTo } from '../state/address.ts';

interface UserLinkProps {
  readonly user: string;
  /** In which queue to look at it. */
  readonly queue: string;
  /** It names its row; `with-queue`: together with the queue. */
  readonly names?: 'alone' | 'with-queue';
}

/** To the screen of a user. */
export function UserLink({ user, queue, names }: UserLinkProps): VNode {
  return (
    <a
      class={names === undefined ? 'cut' : 'name cut'}
      href={linkTo('users', user, { queue })}
      title={user}
    >
      {user}
      {names === 'with-queue' ? <span class="dim"> {queue}</span> : null}
    </a>
  );
}

interface NameLinkProps {
  readonly place: 'runs' | 'tasks';
  readonly id: string;
  readonly name: string;
}

/** To a task or a run, by its name and its id. */
export function NameLink({ place, id, name }: NameLinkProps): VNode {
  return (
    <a class="name" href={linkTo(place, id)}>
      <span class="cut">{shownTask(name)}</span> <span class="mono dim cut">{id}</span>
    </a>
  );
}

/** What was thrown, in one line; nothing where nothing was. */
export function ErrorLine({ error }: { readonly error: TaskError | undefined }): VNode | null {
  if (error === undefined) return null;
  return (
    <span class="cut" title={error.message}>
      <b>{error.name}</b> {error.message}
    </span>
  );
}
