/** Filter and cursor of a listing of runs. */
import type { ValueCodec } from '../../codec/codec.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId, checkName } from '../../domain/fairness/names.ts';
import type { Inspect, Page, TaskPageRequest } from '../../domain/port/backend.ts';
import { TASK_STATES, type TaskState } from '../../domain/task/task.ts';
import { DRIVE_TASK, RUN_TASK } from '../../runs/record.ts';
import { listedRun, type RunFacts, type RunInfo, runInfos } from '../../runs/run-info.ts';
import { RUN_FORMS, type RunForm } from '../../runs/run-options.ts';
import { TASK_PAGE_KEYS, type TaskPageOptions } from './page.ts';

/** Filter of a listing of runs. */
export interface RunListOptions extends TaskPageOptions {
  /** State of the runs. Dispatched runs are `deferred` until they end. */
  readonly state: TaskState;
  /** Form of the runs. Default both: dispatched runs first, then driven ones. */
  readonly form?: RunForm | undefined;
  /** Queue; absent: any. */
  readonly queue?: string | undefined;
  /** User; absent: any. Required for `queued`. */
  readonly user?: string | undefined;
}

/** Keys of {@link RunListOptions}. */
export const LIST_KEYS: OptionKeys<RunListOptions> = keysOf<RunListOptions>()({
  ...TASK_PAGE_KEYS,
  state: true,
  form: true,
  queue: true,
  user: true,
});

/** Position of a listing: a form, and the store's cursor in it; empty at its start. */
function placeIn(
  forms: readonly RunForm[],
  cursor: string | undefined,
): readonly [form: RunForm, cursor: string] {
  const form = forms.find((one) => cursor?.startsWith(`${one}:`));
  if (form !== undefined) return [form, cursor?.slice(form.length + 1) ?? ''];
  if (cursor !== undefined)
    throw new InvalidOptionError('cursor', 'the cursor of a previous page', cursor);
  return [forms[0] ?? 'dispatched', ''];
}

/** Filter of the store for runs of one form. */
interface RunFilter {
  readonly state: TaskState;
  readonly queue?: string;
  readonly user?: string;
}

/** Position and filter of a listing. */
interface RunListing {
  readonly inspect: Inspect;
  readonly codec: ValueCodec;
  readonly filter: RunFilter;
  /** Absent: both. */
  readonly form: RunForm | undefined;
}

/** One page: dispatched runs first, then driven ones. */
export async function pageOfRuns(
  { inspect, codec, filter, form: only }: RunListing,
  { limit, cursor: from, ...page }: TaskPageRequest,
): Promise<Page<RunInfo>> {
  const forms = only === undefined ? RUN_FORMS : [only];
  const runs: RunFacts[] = [];
  let [form, rest] = placeIn(forms, from);
  for (;;) {
    const left = limit - runs.length;
    const { items, cursor } = await inspect.list(
      { ...filter, name: form === 'dispatched' ? RUN_TASK : DRIVE_TASK },
      rest === '' ? { ...page, limit: left } : { ...page, limit: left, cursor: rest },
    );
    for (const root of items) {
      const run = listedRun(codec, root);
      if (run !== undefined) runs.push(run);
    }
    const next = forms[forms.indexOf(form) + 1];
    if (cursor === undefined && next !== undefined && runs.length < limit) {
      [form, rest] = [next, ''];
      continue;
    }
    const infos = await runInfos(inspect, runs);
    if (cursor !== undefined) return { items: infos, cursor: `${form}:${cursor}` };
    return next === undefined ? { items: infos } : { items: infos, cursor: `${next}:` };
  }
}

/** @throws {@link InvalidOptionError} for an invalid filter. */
export function filterOf({ state, form, queue, user }: RunListOptions): RunFilter {
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
