/** Which runs are listed, and where a listing goes on. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId, checkName } from '../../domain/settings/names.ts';
import { TASK_STATES, type TaskState } from '../../domain/task/task.ts';
import { RUN_FORMS, type RunForm } from '../../runs/shared/run-options.ts';
import { TASK_PAGE_KEYS, type TaskPageOptions } from './page.ts';

/** Which runs to list. */
export interface RunListOptions extends TaskPageOptions {
  /** Runs that stand there now. Dispatched runs are `deferred` until they end. */
  readonly state: TaskState;
  /** Default both: dispatched runs first, then driven ones. */
  readonly form?: RunForm | undefined;
  /** Of this queue; absent: of any. */
  readonly queue?: string | undefined;
  /** Of this user; absent: of any. Needed for `queued`. */
  readonly user?: string | undefined;
}

/** What may stand in them. */
export const LIST_KEYS: OptionKeys<RunListOptions> = keysOf<RunListOptions>()({
  ...TASK_PAGE_KEYS,
  state: true,
  form: true,
  queue: true,
  user: true,
});

/** Where a listing goes on: in which form, and at which cursor of that; empty at its start. */
export function placeIn(
  forms: readonly RunForm[],
  cursor: string | undefined,
): readonly [form: RunForm, cursor: string] {
  const form = forms.find((one) => cursor?.startsWith(`${one}:`));
  if (form !== undefined) return [form, cursor?.slice(form.length + 1) ?? ''];
  if (cursor !== undefined) throw new InvalidOptionError('cursor', 'one of a page before', cursor);
  return [forms[0] ?? 'dispatched', ''];
}

/** @throws {@link InvalidOptionError} for what is no way to choose runs. */
export function filterOf({ state, form, queue, user }: RunListOptions): {
  readonly state: TaskState;
  readonly queue?: string;
  readonly user?: string;
} {
  if (!TASK_STATES.includes(state)) {
    throw new InvalidOptionError('state', `one of ${TASK_STATES.join(', ')}`, state);
  }
  if (form !== undefined && !RUN_FORMS.includes(form)) {
    throw new InvalidOptionError('form', '"dispatched", "driven"', form);
  }
  if (state === 'queued' && user === undefined) {
    throw new InvalidOptionError('user', 'a user: queued runs are listed per user', user);
  }
  return {
    state,
    ...(queue === undefined ? {} : { queue: checkName('queue', queue) }),
    ...(user === undefined ? {} : { user: checkId('user', user) }),
  };
}
